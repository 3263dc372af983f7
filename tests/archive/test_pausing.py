"""Pausing and resuming without a job store: the last wish counts; what was never sent moves."""

import asyncio
from dataclasses import replace

import pytest

from driftfold_api.archive.base import Archive, Wish
from driftfold_api.archive.pausing import PAUSED_LATER, RESUMED_LATER
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import Conflict, UnknownJob
from tests.archive.told import WANTED, accepted, event, excerpt, running

pytestmark = pytest.mark.asyncio


async def test_a_job_that_was_never_sent_is_paused_and_resumed_at_once(archive: Archive) -> None:
    job, _ = await archive.accept(WANTED, sent=False)
    told = await archive.pause(job.id)
    assert (told.state, told.reason, told.pausing) == (State.PAUSED, "", False)
    assert told == await archive.get(job.id)
    assert await archive.wish(job.id) is None
    assert [each.id for each in (await archive.list(state=State.PAUSED)).jobs] == [job.id]
    assert (await archive.resume(job.id)).state is State.QUEUED
    with pytest.raises(Conflict, match="is queued, as far as is recorded; only a paused job"):
        await archive.resume(job.id)
    await archive.pause(job.id)
    events = await archive.events(job.id)
    assert [each.kind for each in events] == ["submitted", "paused", "unpaused", "paused"]
    assert [each.number for each in events] == [1, 2, 3, 4]
    assert events[0].facts == {"name": WANTED.name}
    assert (await archive.positions([job.id]))[job.id].events == 4
    assert await archive.send([job.id]) == [job.id]  # as a paused one
    assert (await archive.resume(job.id)).state is State.PAUSED  # the job store has a say by now
    assert await archive.wishes() == [(job.id, Wish.RESUME)]


async def test_a_paused_job_that_was_never_sent_can_be_canceled(archive: Archive) -> None:
    job, _ = await archive.accept(WANTED, sent=False)
    await archive.pause(job.id)
    assert (await archive.cancel(job.id)).state is State.CANCELED
    kinds = [each.kind for each in await archive.events(job.id)]
    assert kinds == ["submitted", "paused", "canceled"]
    for move in (archive.pause, archive.resume):
        with pytest.raises(Conflict, match="was canceled; only"):
            await move(job.id)


async def test_of_one_that_was_sent_the_last_wish_is_kept(archive: Archive) -> None:
    job = await accepted(archive)
    await archive.record(await archive.lead(), [excerpt(running(job))])
    with pytest.raises(Conflict, match="is running, as far as is recorded; only a paused job"):
        await archive.resume(job.id)
    for _ in range(2):
        told = await archive.pause(job.id)
        assert (told.state, told.reason, told.pausing) == (State.RUNNING, PAUSED_LATER, True)
        assert await archive.wishes() == [(job.id, Wish.PAUSE)]
    told = await archive.resume(job.id)
    assert (told.state, told.reason, told.pausing) == (State.RUNNING, RESUMED_LATER, False)
    assert await archive.wish(job.id) is Wish.RESUME
    await archive.grant(job.id, Wish.PAUSE)  # by one who read that before
    assert await archive.wish(job.id) is Wish.RESUME
    await archive.grant(job.id, Wish.RESUME)
    assert (await archive.wish(job.id), (await archive.get(job.id)).reason) == (None, "")
    for move in (archive.pause, archive.resume):
        with pytest.raises(UnknownJob):
            await move("nobody")


async def test_one_that_stops_at_the_end_of_its_round_can_be_resumed(archive: Archive) -> None:
    job = await accepted(archive)
    events = [event(1, "submitted"), event(2, "claimed", epoch=1, attempt=1, worker="anne")]
    events += [event(3, "pause-requested"), event(4, "checkpoint", name="x", epoch=1, seq=0)]
    await archive.record(await archive.lead(), [excerpt(running(job), events=events)])
    assert (await archive.resume(job.id)).reason == RESUMED_LATER


async def test_what_is_to_be_canceled_is_not_paused(archive: Archive) -> None:
    job = await accepted(archive)
    await archive.pause(job.id)
    assert (await archive.cancel(job.id)).state is State.CANCELING
    assert await archive.wishes() == [(job.id, Wish.CANCEL)]
    for move in (archive.pause, archive.resume):
        with pytest.raises(Conflict, match="is canceling"):
            await move(job.id)
    # What is recorded now may be older than the wish.
    await archive.record(await archive.lead(), [excerpt(running(job))])
    for move in (archive.pause, archive.resume):
        with pytest.raises(Conflict):
            await move(job.id)
    assert await archive.wishes() == [(job.id, Wish.CANCEL)]


async def test_one_that_is_over_is_not_paused_and_a_wish_is_no_pause(archive: Archive) -> None:
    job = await accepted(archive)
    await archive.pause(job.id)
    over = replace(running(job), state=State.SUCCEEDED)
    await archive.record(await archive.lead(), [excerpt(over)])
    assert not (await archive.get(job.id)).pausing
    for move in (archive.pause, archive.resume):
        with pytest.raises(Conflict, match="has succeeded; only"):
            await move(job.id)


async def test_it_is_sent_or_paused_whatever_comes_first(archive: Archive) -> None:
    made = [(await archive.accept(WANTED, sent=False))[0].id for _ in range(10)]
    told, _ = await asyncio.gather(
        asyncio.gather(*map(archive.pause, made)),
        asyncio.gather(*(archive.send([job]) for job in made)),
    )
    for job, each in zip(made, told, strict=True):
        events = [event.kind for event in await archive.events(job)]
        wish = await archive.wish(job)
        if each.state is State.PAUSED:
            assert (events, wish) == (["submitted", "paused"], None)
        else:
            assert (events, wish) == ([], Wish.PAUSE)


async def test_it_is_paused_once_by_two_at_once(archive: Archive) -> None:
    made = [(await archive.accept(WANTED, sent=False))[0].id for _ in range(10)]
    await asyncio.gather(*map(archive.pause, [*made, *made]))
    for job in made:
        assert (await archive.get(job)).state is State.PAUSED
        assert [event.kind for event in await archive.events(job)] == ["submitted", "paused"]


async def test_it_is_paused_or_canceled_whatever_comes_first(archive: Archive) -> None:
    made = [(await archive.accept(WANTED, sent=False))[0].id for _ in range(10)]

    async def both(job: str) -> None:
        await asyncio.gather(archive.pause(job), archive.cancel(job), return_exceptions=True)

    await asyncio.gather(*map(both, made))
    for job in made:
        assert (await archive.get(job)).state in (State.CANCELED, State.CANCELING)
        events = await archive.events(job)
        assert [event.number for event in events] == [*range(1, len(events) + 1)]
