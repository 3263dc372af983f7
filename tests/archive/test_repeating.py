"""A job that tries another one again has all that this one told, and goes on from there."""

from dataclasses import replace

import pytest

from driftfold_api.archive.base import KeyReused, Position, Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict, UnknownJob
from tests.archive.told import WANTED, accepted, event, excerpt, lines, running

pytestmark = pytest.mark.asyncio

NOBODY = "01900000-0000-7000-8000-000000000000"


async def ended(archive: SqlArchive, state: State = State.FAILED, dead: bool = False) -> Job:
    """A job with five records that is over."""
    job = await accepted(archive)
    facts = {"seq": 5, "rounds": 3, "checkpoint": f"{job.id}.1:a", "finished": 1.9e9}
    over = replace(running(job, **facts), state=state, reason="died", dead=dead)
    fence = await archive.lead()
    await archive.record(fence, [excerpt(over, 1, lines(1, 5), [event(1, "submitted")])])
    return await archive.get(job.id)


async def test_a_log_is_taken_over(archive: SqlArchive) -> None:
    source = await ended(archive)
    wanted, origin = again(source.id), {"job": source.id, "how": "retry"}
    job, new = await archive.accept(wanted, key="k")
    assert new
    assert job == await archive.get(job.id)
    assert (job.state, job.seq, job.rounds, job.attempt, job.epoch) == ("queued", 5, 3, 0, 0)
    assert (job.checkpoint, job.started) == (source.checkpoint, None)
    assert job.origin == {**origin, "records": 5}
    assert await archive.read(job.id) == await archive.read(source.id) == lines(1, 5)
    assert await archive.events(job.id) == []
    assert (await archive.positions([job.id]))[job.id] == Position(5, 0)
    assert await archive.accept(wanted, key="k") == (job, False)
    assert (await archive.get(source.id)).retried_by == job.id
    assert await archive.retries([source.id, job.id]) == {source.id: job.id}
    with pytest.raises(KeyReused):
        await archive.accept(replace(wanted, log_of=""), key="k")
    # What the new job tells follows what was taken over; the old one keeps its own.
    fence = await archive.lead()
    told = running(job, seq=7)
    await archive.record(fence, [excerpt(told, 6, lines(6, 7), [event(1, "submitted")])])
    assert await archive.read(job.id, after=4) == lines(5, 7)
    await archive.delete(source.id)
    assert len(await archive.read(job.id)) == 7


def again(source: str) -> Wanted:
    return replace(WANTED, origin={"job": source, "how": "retry"}, log_of=source)


async def test_only_what_is_recorded_as_failed_or_canceled_is_taken_over(
    archive: SqlArchive,
) -> None:
    queued = await accepted(archive)
    for source in (queued, await ended(archive, State.SUCCEEDED)):
        with pytest.raises(Conflict, match=f"job {source.id} is {source.state}"):
            await archive.accept(again(source.id))
    with pytest.raises(UnknownJob):
        await archive.accept(again(NOBODY))
    assert len((await archive.list()).jobs) == 2  # nothing of what was refused is there
    await archive.accept(again((await ended(archive, State.CANCELED)).id))


async def test_a_clone_tries_nothing_again(archive: SqlArchive) -> None:
    source = await ended(archive)
    job, _ = await archive.accept(replace(WANTED, origin={"job": source.id, "how": "clone"}))
    assert (job.seq, job.origin) == (0, {"job": source.id, "how": "clone"})
    assert await archive.retries([source.id]) == {}


async def test_the_dead_are_listed(archive: SqlArchive) -> None:
    dead = [(await ended(archive, dead=True)).id for _ in range(3)][::-1]
    await ended(archive)
    page = await archive.list(dead=True, limit=2)
    assert [job.id for job in page.jobs] == dead[:2]
    assert [job.id for job in (await archive.list(dead=True, cursor=page.cursor)).jobs] == dead[2:]
