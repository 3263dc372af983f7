"""The clock of the server is set back: nobody waits for times that are far off now."""

import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.jobs import SHORT, claimed, reaped, running, submitted

pytestmark = pytest.mark.asyncio

HOUR = 3_600_000  # milliseconds


async def put_off(store: RedisJobStore, key: str, job: str) -> None:
    """Make a time look as it does once the clock was set back by an hour."""
    assert await store._link.call(lambda redis: redis.zincrby(key, HOUR, job))


async def test_a_lease_ends_all_the_same(store: RedisJobStore) -> None:
    claim = await running(store, lease=SHORT)
    await put_off(store, store.keys.lease, claim.job.id)
    await reaped(store, claim.job.id)
    assert (await claimed(store, "bert")).epoch == 2


async def test_who_holds_a_lease_keeps_it(store: RedisJobStore) -> None:
    claim = await running(store, lease=1000.0)
    await put_off(store, store.keys.lease, claim.job.id)
    for _ in range(2):
        assert await store.reap(3) == []
    assert await store.heartbeat(claim.job.id, claim.epoch, 1000.0) == "ok"


async def test_a_pause_ends_all_the_same(store: RedisJobStore) -> None:
    job = await submitted(store)
    for _ in range(2):
        claim = await claimed(store)
        await store.release(
            job.id, claim.epoch, reason="full", counted=False, attempts=9, back_off=True
        )
    assert (await store.get(job.id)).due is not None
    await put_off(store, store.keys.delayed, job.id)
    await store.reap(3)
    told = await store.get(job.id)
    assert (told.state, told.due) == (State.QUEUED, None)
    assert (await claimed(store)).job.id == job.id
