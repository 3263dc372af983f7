"""News of a job: records and lifecycle events in one call, of one moment, as they come."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from driftfold_workers.jobs.job import Claim, News, State
from driftfold_workers.jobs.store import StoreError, UnknownJob
from driftfold_workers.redis import signals
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.jobs import claimed, lines, numbers, running, submitted

pytestmark = pytest.mark.asyncio

LONG = 1000.0  # seconds: nothing here ends because this is over
HANG = 30.0  # seconds after which a test is taken to hang


@pytest.fixture(autouse=True)
def only_signals_wake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "RECHECK", LONG)


def kinds(news: News) -> list[str]:
    return [event.kind for event in news.events]


async def test_all_that_there_is_at_once(store: RedisJobStore) -> None:
    claim = await running(store)
    job = claim.job.id
    await store.append(job, claim.epoch, 1, lines(1, 5), checkpoint="1:a")
    news = await store.news(job, wait=LONG)
    assert numbers(news.records) == [1, 2, 3, 4, 5]
    assert kinds(news) == ["submitted", "claimed", "checkpoint"]
    assert (news.state, news.reason, news.seq) == (State.RUNNING, "", 5)
    part = await store.news(job, after=2, events_after=1, limit=2, wait=LONG)
    assert numbers(part.records) == [3, 4]
    assert kinds(part) == ["claimed", "checkpoint"]
    nothing = await store.news(job, after=5, events_after=3)
    assert (nothing.records, nothing.events, nothing.seq) == ([], [], 5)
    assert await store.news(job, after=5, events_after=3, wait=0.02) == nothing


Happening = Callable[[RedisJobStore, Claim], Awaitable[object]]
HAPPENINGS: dict[str, tuple[Happening, list[int], list[str]]] = {
    "records": (lambda s, c: s.append(c.job.id, c.epoch, 2, lines(2, 3)), [2, 3], []),
    "a snapshot alone": (
        lambda s, c: s.append(c.job.id, c.epoch, 2, [], checkpoint="1:a"), [], ["checkpoint"],
    ),
    "both": (
        lambda s, c: s.append(c.job.id, c.epoch, 2, lines(2, 2), checkpoint="1:a"),
        [2], ["checkpoint"],
    ),
    "a request": (lambda s, c: s.cancel(c.job.id), [], ["cancel-requested"]),
    "a release": (
        lambda s, c: s.release(c.job.id, c.epoch, reason="x", counted=True, attempts=9),
        [], ["released"],
    ),
    "an end": (lambda s, c: s.finish(c.job.id, c.epoch, State.SUCCEEDED), [], ["succeeded"]),
}  # fmt: skip


@pytest.mark.parametrize("what", HAPPENINGS)
async def test_whatever_happens_wakes(store: RedisJobStore, what: str) -> None:
    happens, wanted, told = HAPPENINGS[what]
    claim = await running(store)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 1))
    async with asyncio.timeout(HANG):
        waiting = asyncio.create_task(store.news(claim.job.id, after=1, events_after=2, wait=LONG))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await happens(store, claim)
        news = await waiting
    assert (numbers(news.records), kinds(news)) == (wanted, told)


async def test_a_claim_wakes(store: RedisJobStore) -> None:
    job = (await submitted(store)).id
    async with asyncio.timeout(HANG):
        waiting = asyncio.create_task(store.news(job, events_after=1, wait=LONG))
        await asyncio.sleep(0.05)
        await claimed(store)
        news = await waiting
    assert (kinds(news), news.state) == (["claimed"], State.RUNNING)


async def test_after_the_end_nobody_waits(store: RedisJobStore) -> None:
    claim = await running(store)
    await store.finish(claim.job.id, claim.epoch, State.FAILED, reason="because")
    async with asyncio.timeout(HANG):
        news = await store.news(claim.job.id, events_after=3, wait=LONG)
    assert (news.records, news.events) == ([], [])
    assert (news.state, news.reason) == (State.FAILED, "because")


async def test_a_deleted_job_wakes_too(store: RedisJobStore) -> None:
    job = (await submitted(store)).id
    async with asyncio.timeout(HANG):
        waiting = asyncio.create_task(store.news(job, events_after=2, wait=LONG))
        await asyncio.sleep(0.05)
        await store.cancel(job)
        await store.delete(job)
        with suppress(UnknownJob):
            assert (await waiting).state is State.CANCELED
        with pytest.raises(UnknownJob):
            await store.news(job, wait=LONG)


async def test_numbers_that_are_none(store: RedisJobStore) -> None:
    job = (await submitted(store)).id
    for wrong in ({"after": -1}, {"events_after": -1}, {"limit": 0}):
        with pytest.raises(StoreError, match="ask for one or more"):
            await store.news(job, **wrong)
