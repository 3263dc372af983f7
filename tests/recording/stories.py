"""What happens to jobs of these tests."""

from driftfold_api.archive.base import Archive, Wanted
from driftfold_workers.jobs.job import Claim, Job
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.jobs import KINDS, SPEC, claimed


async def accepted(store: RedisJobStore, archive: Archive, name: str = "") -> Job:
    """A job that was accepted and queued."""
    job, _ = await archive.accept(Wanted(SPEC, KINDS, name))
    assert await store.enqueue(job)
    return job


async def running(store: RedisJobStore, archive: Archive) -> Claim:
    """A job that was accepted and is the only queued one, claimed."""
    job = await accepted(store, archive)
    claim = await claimed(store)
    assert claim.job.id == job.id
    return claim


async def lose(store: RedisJobStore) -> None:
    """The job store loses all that it has."""

    async def drop(redis: object) -> None:
        keys = await redis.keys(f"{{{store.keys.prefix}}}*")  # type: ignore[attr-defined]
        if keys:
            await redis.delete(*keys)  # type: ignore[attr-defined]

    await store._link.call(drop)
