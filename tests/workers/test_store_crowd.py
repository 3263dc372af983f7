"""Many at once, much at once."""

import asyncio
from collections import Counter

import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.queue.queue import PAGE
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.jobs import KINDS, SPEC, claimed, lines, numbers, running, submitted, told

pytestmark = pytest.mark.asyncio


async def test_every_job_is_claimed_once(store: RedisJobStore) -> None:
    jobs = [(await submitted(store)).id for _ in range(200)]
    taken: list[str] = []

    async def work(worker: str) -> None:
        while claim := await store.claim(worker, KINDS, 30.0):
            taken.append(claim.job.id)
            await store.append(claim.job.id, claim.epoch, 1, lines(1, 2))
            await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED)

    await asyncio.gather(*(work(f"w{k}") for k in range(6)))
    assert Counter(taken) == Counter(jobs)
    assert len((await store.list(limit=500, state=State.SUCCEEDED)).jobs) == 200


async def test_reapers_do_not_reap_twice(store: RedisJobStore) -> None:
    claim = await running(store, lease=0.01)
    reaped: list[str] = []
    async with asyncio.timeout(30):
        while not reaped:
            for found in await asyncio.gather(*(store.reap(3) for _ in range(8))):
                reaped += found
            await asyncio.sleep(0.02)
    assert reaped == [claim.job.id]
    assert (await told(store, claim.job.id)).count("lost") == 1


async def test_jobs_that_nobody_can_run_do_not_hide_others(store: RedisJobStore) -> None:
    for _ in range(PAGE + 1):
        await submitted(store, ["task:odd"])
    job = await submitted(store)
    assert (await claimed(store)).job.id == job.id
    assert await store.claim("anne", KINDS, 9.0) is None


async def test_long_records(store: RedisJobStore) -> None:
    claim = await running(store)
    long = lines(1, 4, "x" * 1_000_000)
    assert await store.append(claim.job.id, claim.epoch, 1, long) == 4
    assert await store.read(claim.job.id) == long


async def test_many_records(store: RedisJobStore) -> None:
    claim = await running(store)
    assert await store.append(claim.job.id, claim.epoch, 1, lines(1, 9_000)) == 9_000
    for first in range(9_001, 10_001, 100):
        await store.append(claim.job.id, claim.epoch, first, lines(first, first + 99))
    seen: list[int] = []
    while part := numbers(await store.read(claim.job.id, after=len(seen), limit=999)):
        seen += part
    assert seen == list(range(1, 10_001))


async def test_records_are_bytes_as_they_came(store: RedisJobStore) -> None:
    claim = await running(store)
    odd = [b"\x00\r\n\xff", b"", '{"a":"ü"}'.encode()]
    await store.append(claim.job.id, claim.epoch, 1, odd)
    assert await store.read(claim.job.id) == odd


async def test_a_deleted_job_leaves_nothing(store: RedisJobStore) -> None:
    for _ in range(2):
        job = await store.submit(SPEC, [])
        claim = await store.claim("anne", [], 9.0)
        assert claim is not None
        await store.append(job.id, claim.epoch, 1, lines(1, 9), checkpoint="1:a", rounds=9)
        await store.finish(job.id, claim.epoch, State.SUCCEEDED, result={"a": 1})
        await store.delete(job.id)
    canceled = await submitted(store)
    await store.cancel(canceled.id)
    await store.delete(canceled.id)
    pattern = f"{{{store.keys.prefix}}}*"
    left = await store._link.call(lambda redis: redis.keys(pattern))
    assert {key.decode() for key in left} <= {store.keys.counts, store.keys.turns}


async def test_stores_with_other_prefixes_are_apart(store: RedisJobStore) -> None:
    await submitted(store)
    async with RedisJobStore.open(store._link._url, prefix="another") as other:
        assert (await other.list()).jobs == []
        assert await other.claim("anne", KINDS, 1.0) is None
