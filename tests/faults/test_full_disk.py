"""A disk is full for a while: nothing is lost, and no attempt is used up.

The limit on the size of files that a process may write gives the same failures as a full disk, in
one process and nowhere else.
"""

import resource
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import StoreRefuses
from driftfold_workers.queue import queue
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis.server_binary import find_server
from driftfold_workers.redis_store import RedisJobStore
from tests.workers import servers
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import KINDS, SPEC, until
from tests.workers.stories import assert_undisturbed, ended, recorded, submitted
from tests.workers.supervisors import working

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(sys.platform != "linux", reason="limits another process"),
]

ENDLESS = resource.RLIM_INFINITY


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A server that outlives a refused write, as it does on a disk that is full."""
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec {find_server()} \"$@\"\n")
    program.chmod(0o755)
    with servers.running(program) as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[RedisJobStore]:
    async with servers.store_on(server) as store:
        yield store


async def test_the_store_cannot_write_its_log(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.02)
    job = await submitted(store, experiment(60, checkpoint_every=7))
    async with working(store, tmp_path, attempts=2):
        await recorded(store, job.id, 10)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, ENDLESS))
        await until(lambda: _is_full(store))
        with pytest.raises(
            StoreRefuses, match=r"takes no writes now: MISCONF.*once that is mended"
        ):
            await store.submit(SPEC, KINDS)
        seq = (await store.get(job.id)).seq  # it can still be read
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (ENDLESS, ENDLESS))
        await recorded(store, job.id, seq + 1)
        await ended(store, job.id)
    await assert_undisturbed(store, job)
    assert (await store.get(job.id)).attempt == 1


async def _is_full(store: RedisJobStore) -> bool:
    try:
        await store.announce("bert", [], 1, 0.0)
    except StoreRefuses:
        return True
    return False


async def test_the_runs_cannot_be_written(
    store: RedisJobStore, tmp_path: Path, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "FIRST_PAUSE", 0.01)
    behaviour.set(room=100)
    job = await submitted(store, experiment(20, checkpoint_every=7))
    async with working(store, tmp_path, attempts=2):
        await until(lambda: _has_waited(store, job.id, 1))
        waiting = await store.get(job.id)
        assert waiting.state in (State.QUEUED, State.RUNNING)
        behaviour.set()
        await ended(store, job.id)
    await assert_undisturbed(store, job)
    finished = await store.get(job.id)
    assert finished.attempt == 1
    assert finished.epoch > 2
    ends = [event.facts for event in await store.events(job.id) if event.kind == "released"]
    assert {end["outcome"] for end in ends} == {"failed"}
    assert all("File too large" in end["reason"] for end in ends)
    assert ends[0]["reason"].startswith("cannot save a snapshot")
    assert ends[-1]["retry"] > 0


async def _has_waited(store: RedisJobStore, job: str, times: int) -> bool:
    pauses = [event for event in await store.events(job) if "retry" in event.facts]
    return len(pauses) >= times
