"""What happens to jobs of tests: submitted, watched, and compared with an undisturbed run."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from driftfold.spec import from_mapping
from driftfold_workers.jobs.job import Job, LifecycleEvent
from driftfold_workers.jobs.needs import needs_of
from driftfold_workers.jobs.store import JobStore
from tests.workers.experiments import SAME, told, undisturbed
from tests.workers.jobs import until

HALF = 0.5  # seconds: what the service promises beyond a round, or to begin again


async def submitted(store: JobStore, spec: Mapping[str, Any]) -> Job:
    """The experiment as a job in the queue."""
    rounds = spec["horizon"]["rounds"]
    return await store.submit(spec, needs_of(from_mapping(spec)), horizon_rounds=rounds)


async def log_of(store: JobStore, job: str) -> list[bytes]:
    """The whole log of a job."""
    return list(await store.read(job, limit=100_000))


async def assert_undisturbed(store: JobStore, job: Job, log: Sequence[bytes] | None = None) -> None:
    """The job has the numbers of an undisturbed run, and each of its records once.

    `log` is its log if the job store has only a part of it.
    """
    result, records = await asyncio.to_thread(undisturbed, job.spec)
    job = await store.get(job.id)
    assert (job.state, job.reason) == ("succeeded", "")
    assert job.result is not None
    assert {name: job.result[name] for name in SAME} == {
        name: result.to_json()[name] for name in SAME
    }
    assert told(await log_of(store, job.id) if log is None else log) == records
    assert (job.seq, job.rounds) == (len(records), result.rounds)


async def ended(store: JobStore, job: str) -> Job:
    await until(lambda: _has_ended(store, job), 60)
    return await store.get(job)


async def _has_ended(store: JobStore, job: str) -> bool:
    return (await store.get(job)).state.final


async def recorded(store: JobStore, job: str, count: int = 1) -> None:
    """Records up to `count` are in the log."""
    assert await store.read(job, after=count - 1, wait=30.0), "no record came"


async def happened(store: JobStore, job: str, kind: str) -> LifecycleEvent:
    return [event for event in await store.events(job) if event.kind == kind][-1]
