"""Attempts that bring a job no further are followed by pauses; they are kept in the store."""

import asyncio
import re

import pytest

from driftfold_workers.jobs.job import Claim, Job, State
from driftfold_workers.jobs.store import NO_SIGN, JobStore
from driftfold_workers.queue import queue
from driftfold_workers.queue.transition import transition
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers import servers
from tests.workers.jobs import KINDS, SHORT, claimed, lines, reaped, submitted, told, until

pytestmark = pytest.mark.asyncio

WHY = "No space left on device"
LONG = 1000.0  # seconds: nothing here ends because this is over


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pause is so short that it is over at once, or nearly so."""
    monkeypatch.setattr(queue, "FIRST_PAUSE", 0.001)


@pytest.fixture
def lasting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause is over within the test."""
    monkeypatch.setattr(queue, "FIRST_PAUSE", 25.0)


async def given_back(store: JobStore, claim: Claim, back_off: bool = True) -> Job:
    """The job, after an attempt that the machine made fail."""
    await store.release(
        claim.job.id, claim.epoch, reason=WHY, counted=False, attempts=99, back_off=back_off
    )
    return await store.get(claim.job.id)


async def stalled(store: JobStore) -> Job:
    """A job that waits after two attempts that recorded nothing."""
    await submitted(store)
    await given_back(store, await claimed(store))
    return await given_back(store, await claimed(store))


async def pause_of(store: JobStore, job: str) -> float:
    """Seconds that the job was made to wait by the last attempt's end; 0 for none."""
    ends = [event for event in await store.events(job) if event.kind in ("released", "lost")]
    due = (await store.get(job)).due
    return 0.0 if due is None else due - ends[-1].time


async def test_pauses_grow(store: RedisJobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "LONGEST_PAUSE", 3.0)
    job = await submitted(store)
    for wanted in (0.0, 0.5, 1.0, 2.0, 3.0, 3.0):
        claim = await claimed(store)
        assert claim.job.due is None
        await given_back(store, claim)
        # The times are kept to the millisecond.
        assert await pause_of(store, job.id) == pytest.approx(wanted, abs=0.0011)
        await store._link.call(lambda redis: redis.zadd(store.keys.delayed, {job.id: 0}, xx=True))
        await store.reap(99)


@pytest.mark.usefixtures("lasting")
async def test_a_job_that_waits_says_so_and_is_out_of_reach(store: JobStore) -> None:
    await store.announce("anne", KINDS, 1, LONG)
    job = await stalled(store)
    assert (job.state, job.attempt) == (State.QUEUED, 0)
    assert re.fullmatch(rf"retry in \d+ s: {WHY}", job.reason)
    (listed,) = (await store.list()).jobs
    assert (listed.due, listed.reason[:9]) == (job.due, "retry in ")
    ends = [event for event in await store.events(job.id) if event.kind == "released"]
    assert [end.facts["reason"] for end in ends] == [WHY, WHY]
    assert [end.facts.get("retry") for end in ends] == [None, 25.0]
    assert await store.claim("anne", KINDS, LONG) is None
    assert await store.reap(99) == []
    assert await store.claim("anne", KINDS, LONG) is None


async def test_who_waits_for_a_job_gets_it_when_its_pause_is_over(store: JobStore) -> None:
    job = await stalled(store)
    claiming = asyncio.create_task(store.claim("anne", KINDS, LONG, wait=LONG))
    while not claiming.done():
        assert await store.reap(99) == []
        await asyncio.sleep(0.02)
    claim = await claiming
    assert claim is not None
    assert (claim.job.id, claim.job.due, claim.job.reason) == (job.id, None, "")
    assert claim.job.started is not None
    before = (await store.events(job.id))[-2]
    assert (await store.events(job.id))[-1].time - before.time >= 0.499  # rounded to milliseconds


@pytest.mark.usefixtures("brief")
async def test_progress_counts_and_a_drain_does_not(store: RedisJobStore) -> None:
    job = (await submitted(store)).id
    seq = 0
    for progress, back_off, waits in [
        (False, True, False),  # the first that got nowhere
        (True, True, False),
        (False, True, False),  # the first again
        (False, False, False),  # a drain
        (False, True, True),
        (True, True, False),
    ]:
        claim = await _next(store)
        if progress:
            seq = await store.append(job, claim.epoch, seq + 1, lines(seq + 1, seq + 1))
        elif seq:  # once more what was there before
            await store.append(job, claim.epoch, seq, lines(seq, seq))
        await given_back(store, claim, back_off=back_off)
        assert (await pause_of(store, job) > 0) is waits


async def _next(store: JobStore) -> Claim:
    async with asyncio.timeout(30):
        while (claim := await store.claim("anne", KINDS, LONG)) is None:
            await store.reap(99)
    return claim


@pytest.mark.usefixtures("lasting")
async def test_lost_attempts_wait_too(store: JobStore) -> None:
    job = (await submitted(store)).id
    for _ in range(2):
        await claimed(store, lease=SHORT)
        await reaped(store, job, 9)
    assert re.fullmatch(rf"retry in \d+ s: {NO_SIGN}", (await store.get(job)).reason)
    assert await pause_of(store, job) == pytest.approx(25.0, abs=0.0011)


async def test_a_job_that_waits_is_canceled_at_once(store: RedisJobStore) -> None:
    job = await stalled(store)
    over = await store.cancel(job.id)
    assert (over.state, over.due, over.reason) == (State.CANCELED, None, "")
    await asyncio.sleep(0.51)
    assert await store.reap(99) == []
    assert await store.claim("anne", KINDS, LONG) is None
    await store.delete(job.id)
    left = await store._link.call(lambda redis: redis.keys(f"{{{store.keys.prefix}}}*"))
    assert {key.decode() for key in left} <= {store.keys.counts, store.keys.turns}


async def test_the_last_attempt_is_not_waited_for(store: JobStore) -> None:
    job = (await submitted(store)).id
    for _ in range(2):
        claim = await claimed(store)
        await store.release(
            job, claim.epoch, reason="died", counted=True, attempts=2, back_off=True, outcome="odd"
        )
    over = await store.get(job)
    assert (over.state, over.reason, over.due) == (State.FAILED, "died", None)
    assert (await told(store, job))[-2:] == ["released", "failed"]
    assert [event.facts["outcome"] for event in (await store.events(job))[-2:]] == ["odd", "odd"]


async def test_a_pause_outlives_the_server_and_all_workers() -> None:
    with servers.running() as server:
        async with RedisJobStore.open(server.url) as store:
            job = await stalled(store)
        server.restart()
        async with RedisJobStore.open(server.url) as store:
            assert (await store.get(job.id)).due == job.due
            await until(lambda: _promoted(store))
            claim = await claimed(store)
            assert claim.job.id == job.id


async def _promoted(store: RedisJobStore) -> bool:
    await store.reap(99)
    return bool(await store._link.call(lambda redis: redis.zcard(store.keys.ready)))


async def test_two_reapers_promote_once(server: EmbeddedServer, store: RedisJobStore) -> None:
    job = await stalled(store)
    await asyncio.sleep(0.51)
    await asyncio.gather(*(store.reap(99) for _ in range(5)))
    claim = await claimed(store)
    assert claim.job.id == job.id
    await asyncio.gather(*(store.reap(99) for _ in range(5)))
    assert await store.claim("anne", KINDS, LONG) is None
    assert (await store.get(job.id)).state is State.RUNNING


async def test_who_claims_what_was_listed_before_it_had_to_wait_leaves_it_there(
    store: RedisJobStore, lasting: None
) -> None:
    """Between a worker's look at the queue and its claim others may take a job and give it back."""
    job = await stalled(store)
    assert job.due is not None
    assert await transition(store._link, "claim", job.id, "late", 10**6) == []
    assert (await store.get(job.id)).due == job.due
    assert await transition(store._link, "promote", job.id, 0) == 1
    assert (await claimed(store)).job.id == job.id
