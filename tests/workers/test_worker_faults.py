"""Whatever is killed, stopped or restarted: each record once, undisturbed numbers, one end."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import told, until
from tests.workers.stories import HALF, assert_undisturbed, ended, happened, recorded, submitted
from tests.workers.supervisors import starter, working
from tests.workers.workers import alive, children_of, ready, worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

LEASE = 2.0
PAUSE = 0.05  # seconds a round takes


@pytest_asyncio.fixture
async def slow(behaviour: Behaviour) -> Behaviour:
    behaviour.set(pause=PAUSE)
    await starter().ready()  # the worker beside is there at once
    return behaviour


def beside(store: RedisJobStore, folder: Path) -> AbstractAsyncContextManager[object]:
    """A second worker, in this process: one of its own takes a second or two to start."""
    return working(store, folder / "runs", name="bert", lease=LEASE)


async def exited(process: "subprocess.Popen[bytes]") -> int:
    return await asyncio.wait_for(asyncio.to_thread(process.wait), 30)


async def goes(pid: int) -> bool:
    return not alive(pid)


@pytest.mark.asyncio
async def test_a_killed_worker_is_replaced_within_its_lease_and_a_second(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, slow: Behaviour
) -> None:
    with worker(server, store, tmp_path, "anne") as anne:
        await ready(store, "anne")
        job = await submitted(store, experiment(60, checkpoint_every=7))
        await recorded(store, job.id, 10)
        async with beside(store, tmp_path):
            await ready(store, "anne", "bert")
            children = children_of(anne.pid)
            killed = time.time()
            anne.kill()
            await until(lambda: _worker_is(store, job.id, "bert"))
            assert (await happened(store, job.id, "resumed")).time - killed < LEASE + 1
            assert len(children) >= 1
            for child in children:
                await until(lambda child=child: goes(child))  # type: ignore[misc]
            slow.set()
            await ended(store, job.id)
    await assert_undisturbed(store, job)
    assert [kind for kind in await told(store, job.id) if kind != "checkpoint"] == [
        "submitted", "claimed", "lost", "resumed", "succeeded",
    ]  # fmt: skip


async def _worker_is(store: RedisJobStore, job: str, name: str) -> bool:
    return (await store.get(job)).worker == name


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_worker_that_wakes_after_its_lease_writes_nothing_more(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, slow: Behaviour
) -> None:
    with worker(server, store, tmp_path, "anne") as anne:
        await ready(store, "anne")
        job = await submitted(store, experiment(150, checkpoint_every=7))
        await recorded(store, job.id, 10)
        async with beside(store, tmp_path):
            await ready(store, "anne", "bert")
            mine = children_of(anne.pid)
            os.kill(anne.pid, signal.SIGSTOP)  # its child goes on
            await until(lambda: _worker_is(store, job.id, "bert"))
            before = await store.get(job.id)
            await recorded(store, job.id, before.seq + 5)
            os.kill(anne.pid, signal.SIGCONT)
            running = [pid for pid in mine if alive(pid)]
            await until(lambda: _any_gone(running))
            slow.set()
            await ended(store, job.id)
            assert "lost its job" in (tmp_path / "home of anne" / "log").read_text()
        await ready(store, "anne")  # nothing else has happened to it
        again = await submitted(store, experiment(seed=5))
        assert (await ended(store, again.id)).worker == "anne"
    await assert_undisturbed(store, job)
    await assert_undisturbed(store, again)
    assert (await store.get(job.id)).attempt == 2


async def _any_gone(pids: list[int]) -> bool:
    return not all(map(alive, pids))


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_restarted_store_has_lost_nothing_and_the_run_goes_on(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, slow: Behaviour
) -> None:
    with worker(server, store, tmp_path, "anne"):
        await ready(store, "anne")
        job = await submitted(store, experiment(200, checkpoint_every=7))
        await recorded(store, job.id, 8)
        os.kill(server.pid, signal.SIGKILL)
        await asyncio.sleep(LEASE + HALF)
        await asyncio.to_thread(server.restart)
        await recorded(store, job.id, (await store.get(job.id)).seq + 8)
        slow.set()
        await ended(store, job.id)
    await assert_undisturbed(store, job)
    finished = await store.get(job.id)
    assert (finished.attempt, finished.epoch) == (1, 1)


@pytest.mark.asyncio
async def test_a_worker_drains_on_sigterm(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, slow: Behaviour
) -> None:
    with worker(server, store, tmp_path, "anne", lease=15.0) as anne:
        await ready(store, "anne")
        job = await submitted(store, experiment())
        await recorded(store, job.id, 8)
        stopped = time.time()
        anne.send_signal(signal.SIGTERM)
        assert await exited(anne) == 0
        assert (await happened(store, job.id, "released")).time - stopped < PAUSE + HALF
    slow.set()
    async with beside(store, tmp_path):
        finished = await ended(store, job.id)
    assert (finished.worker, finished.attempt) == ("bert", 1)
    await assert_undisturbed(store, job)


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_second_signal_does_not_wait_for_the_round(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, slow: Behaviour
) -> None:
    slow.set(**{"from": 5, "deaf": True})
    with worker(server, store, tmp_path, "anne", lease=15.0) as anne:
        await ready(store, "anne")
        job = await submitted(store, experiment())
        await recorded(store, job.id, 5)
        anne.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.2)
        anne.send_signal(signal.SIGINT)
        assert await exited(anne) == 0
    released = await happened(store, job.id, "released")
    assert (await store.get(job.id)).attempt == 0
    assert released.facts["reason"] == "its worker stopped"
