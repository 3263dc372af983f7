"""What tests of job stores submit, claim and write."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

from driftfold_workers.jobs.job import Claim, Job
from driftfold_workers.jobs.store import JobStore, UnknownJob

KINDS = ("participation:always", "task:pca")
SHORT = 0.3  # seconds of a lease that is to end
SPEC = {"task": {"kind": "pca", "rank": 2}, "seed": 7, "step": 0.1, "label": "Frühling"}


def lines(first: int, last: int, note: str = "") -> list[bytes]:
    """Records `first` to `last`, each a JSON text."""
    return [
        json.dumps({"seq": seq, "kind": "round", "values": {"loss": "NaN"}, "note": note}).encode()
        for seq in range(first, last + 1)
    ]


def numbers(records: Sequence[bytes]) -> list[int]:
    """Numbers of the records, in the order given."""
    return [json.loads(record)["seq"] for record in records]


async def submitted(store: JobStore, needs: Sequence[str] = KINDS, name: str = "") -> Job:
    """A new job in the queue."""
    return await store.submit(SPEC, needs, name=name)


async def claimed(store: JobStore, worker: str = "anne", lease: float = 30.0) -> Claim:
    """The oldest queued job, claimed."""
    claim = await store.claim(worker, KINDS, lease)
    assert claim is not None
    return claim


async def running(store: JobStore, lease: float = 30.0) -> Claim:
    """A new job that is the only queued one, claimed."""
    job = await submitted(store)
    claim = await claimed(store, lease=lease)
    assert claim.job.id == job.id
    return claim


async def reaped(store: JobStore, job: str, attempts: int = 3) -> None:
    """The job's lease ends and it is taken back. A server that just started waits a second."""
    await until(lambda: _reaps(store, job, attempts))


async def _reaps(store: JobStore, job: str, attempts: int) -> bool:
    return job in await store.reap(attempts)


async def until(holds: Callable[[], Awaitable[bool]], within: float = 30.0) -> None:
    """Wait for something that will come soon, for so long only that a hang is told."""
    async with asyncio.timeout(within):
        while not await holds():
            await asyncio.sleep(0.02)


async def told(store: JobStore, job: str) -> list[str]:
    """Kinds of the job's lifecycle events."""
    return [event.kind for event in await store.events(job)]


async def gone(store: JobStore, job: str) -> bool:
    """Whether the store does not know the job."""
    try:
        await store.get(job)
    except UnknownJob:
        return True
    return False
