"""Who waits is woken by what happens, not by the clock, and never misses it."""

import asyncio
import random

import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import UnknownJob
from driftfold_workers.redis import signals
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.jobs import KINDS, claimed, lines, numbers, reaped, running, submitted

pytestmark = pytest.mark.asyncio

LONG = 1000.0  # seconds: nothing here ends because this is over
HANG = 30.0  # seconds after which a test is taken to hang


@pytest.fixture(autouse=True)
def only_signals_wake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "RECHECK", LONG)


async def asleep() -> None:
    """Give a task that was just started the time to fall asleep: where it usually is when woken."""
    await asyncio.sleep(0.1)


async def test_a_reader_is_woken_by_records(store: RedisJobStore) -> None:
    claim = await running(store)
    async with asyncio.timeout(HANG):
        for seq in range(1, 4):
            reading = asyncio.create_task(store.read(claim.job.id, after=seq - 1, wait=LONG))
            await asleep()
            assert not reading.done()
            await store.append(claim.job.id, claim.epoch, seq, lines(seq, seq))
            assert numbers(await reading) == [seq]


@pytest.mark.parametrize("end", ["finish", "cancel", "fail"])
async def test_a_reader_is_woken_by_the_end(store: RedisJobStore, end: str) -> None:
    job = (await submitted(store)).id
    reading = asyncio.create_task(store.read(job, wait=LONG))
    async with asyncio.timeout(HANG):
        await asleep()
        if end == "cancel":
            await store.cancel(job)
        else:
            claim = await claimed(store)
            if end == "finish":
                await store.finish(job, claim.epoch, State.SUCCEEDED)
            else:
                why = "died"
                await store.release(job, claim.epoch, reason=why, counted=True, attempts=1)
        assert await reading == []
        assert await store.read(job, wait=LONG) == []  # it is over: no need to wait


async def test_a_reader_of_a_job_that_is_deleted(store: RedisJobStore) -> None:
    job = (await submitted(store)).id
    await store.cancel(job)
    with pytest.raises(UnknownJob):
        await store.read("never", wait=LONG)
    assert await store.read(job, wait=LONG) == []


async def test_a_wait_ends(store: RedisJobStore) -> None:
    job = (await submitted(store)).id
    assert await store.read(job, wait=0.05) == []
    assert await store.claim("anne", [], 1.0, wait=0.05) is None


@pytest.mark.parametrize("by", ["submit", "release", "reap"])
async def test_every_waiting_worker_hears_of_a_job(store: RedisJobStore, by: str) -> None:
    # The first to hear of it may lack its kinds: the bell must not be used up by that one.
    claim = await running(store, lease=0.3) if by != "submit" else None
    lacking = [asyncio.create_task(store.claim(f"l{k}", [], 9.0, wait=LONG)) for k in range(3)]
    having = asyncio.create_task(store.claim("having", KINDS, 9.0, wait=LONG))
    async with asyncio.timeout(HANG):
        await asleep()
        if claim is None:
            await submitted(store)
        elif by == "release":
            await store.release(claim.job.id, claim.epoch, reason="x", counted=True, attempts=3)
        else:
            await reaped(store, claim.job.id)
        assert await having is not None
    for task in lacking:
        task.cancel()
    await asyncio.gather(*lacking, return_exceptions=True)


async def test_no_signal_is_missed(store: RedisJobStore) -> None:
    # The job comes at any moment of the claim: before, in the middle of, after its look.
    moment = random.Random(0)
    async with asyncio.timeout(HANG):
        for _ in range(60):
            claiming = asyncio.create_task(store.claim("anne", KINDS, 9.0, wait=LONG))
            await asyncio.sleep(moment.choice([0.0, 0.0005, 0.001, 0.002]))
            job = await submitted(store)
            claim = await claiming
            assert claim is not None
            assert claim.job.id == job.id
            reading = asyncio.create_task(store.read(job.id, wait=LONG))
            await asyncio.sleep(moment.choice([0.0, 0.0005, 0.001, 0.002]))
            await store.append(job.id, claim.epoch, 1, lines(1, 1))
            assert numbers(await reading) == [1]


async def test_a_broken_connection_loses_no_signal(store: RedisJobStore) -> None:
    claim = await running(store)
    async with asyncio.timeout(HANG):
        for seq in range(1, 6):
            reading = asyncio.create_task(store.read(claim.job.id, after=seq - 1, wait=LONG))
            await asleep()
            await store._link.call(lambda redis: redis.client_kill_filter(_type="pubsub"))
            await store.append(claim.job.id, claim.epoch, seq, lines(seq, seq))
            assert numbers(await reading) == [seq]


async def test_a_claim_that_is_canceled_gives_its_job_back(store: RedisJobStore) -> None:
    job = await submitted(store)
    # Until the pause is over, the claim is on its way: the server has not done what it asks.
    await store._link.call(lambda redis: redis.client_pause(500, all=False))
    claiming = asyncio.create_task(store.claim("anne", KINDS, LONG, wait=LONG))
    await asleep()
    claiming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await claiming
    claim = await claimed(store)
    assert (claim.job.id, claim.job.attempt, claim.epoch) == (job.id, 1, 2)


async def test_a_claim_may_be_canceled_at_any_moment(store: RedisJobStore) -> None:
    moment = random.Random(1)
    for _ in range(40):
        job = await submitted(store)
        claiming = asyncio.create_task(store.claim("anne", KINDS, LONG, wait=LONG))
        await asyncio.sleep(moment.uniform(0.0, 0.005))
        claiming.cancel()
        try:
            claim = await claiming
        except asyncio.CancelledError:
            claim = await claimed(store)
        assert claim is not None
        assert (claim.job.id, claim.job.attempt) == (job.id, 1)
        await store.finish(job.id, claim.epoch, State.SUCCEEDED)


async def test_readers_share_few_connections(store: RedisJobStore) -> None:
    claim = await running(store)
    async with asyncio.timeout(HANG):
        readers = [asyncio.create_task(store.read(claim.job.id, wait=LONG)) for _ in range(300)]
        await asleep()
        await store.append(claim.job.id, claim.epoch, 1, lines(1, 2))
        assert {tuple(numbers(found)) for found in await asyncio.gather(*readers)} == {(1, 2)}
    clients = await store._link.call(lambda redis: redis.client_list())
    assert len(clients) <= 10
