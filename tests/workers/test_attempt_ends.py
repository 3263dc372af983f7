"""An attempt ends at whatever moment it is stopped, and never holds its job without a process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts import attempt as attempts
from driftfold_workers.attempts.attempt import Attempt
from driftfold_workers.attempts.messages import Done, Message, Recorded, Saved
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import JobStore, StoreUnreachable
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.settings import Settings
from driftfold_workers.stopping import stopped
from tests.workers.jobs import lines, reaped, running
from tests.workers.puppets import Child, puppet

pytestmark = pytest.mark.asyncio

HANG = 30.0  # seconds after which a test is taken to hang
SAID: list[Message] = [
    Recorded(1, 0, lines(1, 1)[0]),
    Saved("a", 1),
    Recorded(2, 1, lines(2, 2)[0]),
]


def settings(folder: Path, lease: float = 30.0) -> Settings:
    return Settings("anne", Runs.at(folder), lease=lease)


async def begun(store: JobStore, folder: Path) -> tuple[str, "asyncio.Task[None]", Child]:
    """An attempt that has just begun at a job, and what stands for its process."""
    claim = await running(store)
    process, child = puppet()
    attempt = Attempt(store, claim, process, settings(folder))
    return claim.job.id, asyncio.create_task(attempt.run(), name="attempt"), child


def at_work() -> set[str]:
    """Names of the tasks that an attempt has begun."""
    words = ("attempt", "heartbeat", "work", "log", "pipe", "exit", "stop")
    return {task.get_name() for task in asyncio.all_tasks() if task.get_name().split()[0] in words}


@pytest.mark.parametrize("life", ["at work", "has ended", "is done"])
async def test_stopped_at_any_step(store: JobStore, tmp_path: Path, life: str) -> None:
    for steps in range(1, 84):
        job, task, child = await begun(store, tmp_path)
        child.say(*SAID)
        if life != "at work":
            child.say(*([Done({"rounds": 1})] if life == "is done" else []))
            child.end(0)
        for step in range(steps):
            await asyncio.sleep(0 if step < 80 else 0.01)  # replies take a while
        async with asyncio.timeout(HANG):
            await stopped(task)
        assert at_work() == set(), f"after {steps} steps"
        assert child.returncode is not None
        if (await store.get(job)).state is State.QUEUED:
            await store.cancel(job)


class Mute(RedisJobStore):
    """Answers everything but appends: each of them is lost on its way."""

    async def append(self, job: str, epoch: int, first: int, *rest: Any, **more: Any) -> int:
        raise StoreUnreachable("it is lost")


class Broken(RedisJobStore):
    """Fails in a way that nobody foresaw."""

    async def append(self, job: str, epoch: int, first: int, *rest: Any, **more: Any) -> int:
        raise ZeroDivisionError("a bug")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"IDLE": 0.1, "BEAT": 0.02, "PATIENCE": 0.05, "LEFT_OPEN": 0.05}.items():
        monkeypatch.setattr(attempts, name, seconds)


@pytest.mark.usefixtures("hasty")
async def test_a_job_without_a_process_is_not_held_by_a_heartbeat(
    server: EmbeddedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Mute.open(server.url, prefix="mute") as store:
        job, task, child = await begun(store, tmp_path)
        child.say(*SAID, Done({"rounds": 1}))
        child.end(0)
        async with asyncio.timeout(HANG):
            await task
        assert at_work() == set()
        assert "its process has ended, but nothing more gets written" in caplog.text
        assert (await store.get(job)).state is State.RUNNING
        await store.heartbeat(job, 1, 0.01)
        await reaped(store, job)
        assert (await store.get(job)).state is State.QUEUED


@pytest.mark.usefixtures("hasty")
async def test_a_live_process_is_no_reason_to_give_up(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    async with Mute.open(server.url, prefix="alive") as store:
        _, task, child = await begun(store, tmp_path)
        child.say(*SAID)
        await asyncio.sleep(0.5)  # five times as long as a job may be held without a process
        assert not task.done()
        await stopped(task)


async def test_a_failure_that_nobody_foresaw_ends_the_attempt(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    async with Broken.open(server.url, prefix="broken") as store:
        job, task, child = await begun(store, tmp_path)
        child.say(*SAID)
        async with asyncio.timeout(HANG):
            await task
        given_back = await store.get(job)
        assert given_back.state is State.QUEUED
        assert child.returncode is not None
        (released,) = [event for event in await store.events(job) if event.kind == "released"]
        assert (released.facts["reason"], released.facts["outcome"]) == ("a bug", "failed")
