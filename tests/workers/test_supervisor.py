"""The supervisor in this process, real processes for the attempts, a real store."""

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.needs import kinds_here
from driftfold_workers.jobs.store import JobStore
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.settings import Settings
from driftfold_workers.supervisor import Supervisor
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import told, until
from tests.workers.stories import HALF, assert_undisturbed, ended, happened, recorded, submitted
from tests.workers.supervisors import processes, running_process, starter, working


@pytest.mark.asyncio
async def test_numbers_are_those_of_the_library(store: JobStore, tmp_path: Path) -> None:
    jobs = [await submitted(store, experiment(seed=seed)) for seed in (1, 2, 3)]
    async with working(store, tmp_path, slots=2):
        for job in jobs:
            await ended(store, job.id)
            await assert_undisturbed(store, job)
            assert await told(store, job.id) == ["submitted", "claimed", "succeeded"]
            assert (tmp_path / job.id / "result.json").exists()
        (worker,) = await store.workers()
        assert (worker["name"], worker["slots"]) == ("anne", 2)
    assert await store.workers() == []
    assert processes() == []


@pytest.mark.asyncio
async def test_slots_run_side_by_side(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.1)
    jobs = [await submitted(store, experiment(seed=seed)) for seed in range(3)]
    async with working(store, tmp_path, slots=2):
        await recorded(store, jobs[0].id)
        await recorded(store, jobs[1].id)
        states = [(await store.get(job.id)).state for job in jobs]
        assert states == [State.RUNNING, State.RUNNING, State.QUEUED]


@pytest.mark.asyncio
async def test_a_killed_process_is_replaced_at_once(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    spec = experiment(checkpoint_every=5)
    behaviour.set(pause=0.05)
    job = await submitted(store, spec)
    async with working(store, tmp_path):
        await recorded(store, job.id, 12)
        killed = time.time()
        os.kill(await running_process(tmp_path, job), signal.SIGKILL)
        await until(lambda: attempt_is(store, job.id, 2))
        resumed = await happened(store, job.id, "resumed")
        assert resumed.time - killed < HALF
        behaviour.set()
        await ended(store, job.id)
    await assert_undisturbed(store, job)
    released = await happened(store, job.id, "released")
    assert released.facts["reason"] == "the process was killed by SIGKILL (out of memory?)"
    assert not (tmp_path / job.id / "checkpoints" / f"{job.id}.1").exists()


async def attempt_is(store: JobStore, job: str, attempt: int) -> bool:
    return (await store.get(job)).attempt == attempt


ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "signal": ({"signal": signal.SIGSEGV}, "the process was killed by SIGSEGV"),
    "exit": ({"exit": 3}, "the process exited with status 3 before the run was over"),
    "raise": ({"raise": "no"}, "ZeroDivisionError: no"),
    "memory": ({"memory": 2 << 30}, "out of memory: Unable to allocate 2.00 GiB"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "case",
    [
        "signal",
        "memory",
        *(pytest.param(case, marks=pytest.mark.slow) for case in ("exit", "raise")),
    ],
)
async def test_what_fails_every_time_fails_after_its_attempts(
    case: str, store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    how, reason = ENDS[case]
    behaviour.set(**how, **{"from": 5})
    job = await submitted(store, experiment())
    async with working(store, tmp_path, attempts=2, memory=2 << 30):
        failed = await ended(store, job.id)
    assert (failed.state, failed.attempt) == ("failed", 2)
    assert failed.reason.startswith(reason)
    assert (await told(store, job.id))[-2:] == ["released", "failed"]
    assert 5 <= failed.rounds <= 6


@pytest.mark.asyncio
async def test_what_cannot_get_better_fails_at_once(store: JobStore, tmp_path: Path) -> None:
    job = await submitted(store, experiment(algorithm={"kind": "fedavg"}))
    async with working(store, tmp_path):
        failed = await ended(store, job.id)
    assert (failed.state, failed.attempt) == ("failed", 1)
    assert "choose" in failed.reason
    assert await told(store, job.id) == ["submitted", "claimed", "failed"]


@pytest.mark.asyncio
async def test_a_running_job_is_canceled_within_a_round(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.1)
    running, queued = [await submitted(store, experiment(10_000)) for _ in range(2)]
    async with working(store, tmp_path, lease=15.0):
        await recorded(store, running.id)
        assert (await store.cancel(queued.id)).state == State.CANCELED
        begun = time.time()
        assert (await store.cancel(running.id)).state == State.CANCELING
        job = await ended(store, running.id)
        assert job.state == State.CANCELED
        assert job.finished is not None
        assert job.finished - begun < 0.1 + HALF
        assert await told(store, queued.id) == ["submitted", "canceled"]


@pytest.mark.asyncio
async def test_a_process_that_does_not_stop_is_killed(
    store: JobStore, tmp_path: Path, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftfold_workers.attempts.attempt.PATIENCE", 0.5)
    behaviour.set(**{"from": 5, "deaf": True})
    job = await submitted(store, experiment())
    async with working(store, tmp_path):
        await recorded(store, job.id, 5)
        await store.cancel(job.id)
        assert (await ended(store, job.id)).state == State.CANCELED


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_drain_gives_the_job_back_and_another_worker_finishes_it(
    store: JobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.05)
    job = await submitted(store, experiment())
    async with working(store, tmp_path, lease=15.0):
        await recorded(store, job.id, 8)
    given_back = await store.get(job.id)
    assert (given_back.state, given_back.attempt) == ("queued", 0)
    assert given_back.checkpoint is not None
    behaviour.set()
    async with working(store, tmp_path, name="bert"):
        finished = await ended(store, job.id)
    assert (finished.attempt, finished.worker) == (1, "bert")
    assert await told(store, job.id) == [
        "submitted", "claimed", "checkpoint", "released", "resumed", "succeeded",
    ]  # fmt: skip
    await assert_undisturbed(store, job)


@pytest.mark.asyncio
async def test_a_job_waits_for_a_worker_that_has_its_kinds(store: JobStore, tmp_path: Path) -> None:
    job = await submitted(store, experiment())
    without = [kind for kind in kinds_here() if not kind.startswith("participation:test")]
    settings = Settings("bert", Runs.at(tmp_path), lease=3.0)
    supervisor = Supervisor(store, without, settings, starter())
    drain = asyncio.Event()
    bert = asyncio.create_task(supervisor.run(drain))
    await until(lambda: _workers_are(store, ["bert"]))
    assert await store.read(job.id, wait=0.5) == []
    async with working(store, tmp_path):
        assert (await ended(store, job.id)).worker == "anne"
    drain.set()
    await bert


async def _workers_are(store: JobStore, names: list[str]) -> bool:
    return [worker["name"] for worker in await store.workers()] == names


@pytest.mark.asyncio
async def test_a_store_that_lost_its_last_second_is_told_again(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path, behaviour: Behaviour
) -> None:
    behaviour.set(pause=0.05)
    job = await submitted(store, experiment())
    async with working(store, tmp_path):
        await recorded(store, job.id, 8)
        # What a loss of power leaves: everything as it was a moment ago.
        key, log = store.keys.job(job.id), store.keys.records(job.id)
        async with Redis.from_url(server.url) as redis, redis.pipeline() as back:
            back.hset(key, mapping={"seq": 5, "rounds": 4})
            back.hdel(key, "checkpoint")
            back.xtrim(log, maxlen=0, approximate=False)
            back.execute_command("XSETID", log, "0-0")
            for seq in range(1, 6):
                line = (await store.read(job.id, after=seq - 1, limit=1))[0]
                back.xadd(log, {"record": line}, id=f"{seq}-0")
            await back.execute()
        await until(lambda: attempt_is(store, job.id, 2))
        behaviour.set()
        await ended(store, job.id)
    await assert_undisturbed(store, job)
    assert "GAP" not in (reason := (await happened(store, job.id, "released")).facts["reason"])
    assert "cannot follow record 5" in reason


@pytest.mark.asyncio
async def test_a_store_that_hangs_slows_a_run_and_changes_nothing(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path
) -> None:
    job = await submitted(store, experiment(500))
    async with working(store, tmp_path, lease=15.0):
        await recorded(store, job.id)
        async with Redis.from_url(server.url) as redis:
            await redis.client_pause(600)
        finished = await ended(store, job.id)
    assert (finished.epoch, finished.attempt) == (1, 1)
    await assert_undisturbed(store, job)
