"""Wishes: kept until they are granted; what was never sent needs nobody's leave."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import text

from driftfold_api.archive import wishing
from driftfold_api.archive.base import Archive, Wish
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import Conflict, UnknownJob
from tests.archive.told import WANTED, accepted, event, excerpt, lines, running

pytestmark = pytest.mark.asyncio


async def test_a_job_that_was_never_sent_is_canceled_at_once(archive: Archive) -> None:
    job, _ = await archive.accept(WANTED, sent=False)
    told = await archive.cancel(job.id)
    assert (told.state, told.reason) == (State.CANCELED, "")
    assert told.finished is not None
    assert told == await archive.get(job.id)
    assert [each.kind for each in await archive.events(job.id)] == ["submitted", "canceled"]
    assert (await archive.news(job.id)).state is State.CANCELED
    assert await archive.unfinished() == []
    assert await archive.wishes() == []
    assert await archive.send([job.id]) == []
    with pytest.raises(Conflict, match="was canceled; only a job that is not over"):
        await archive.cancel(job.id)


async def test_of_one_that_was_sent_the_wish_is_kept(archive: Archive) -> None:
    job = await accepted(archive)
    later, _ = await archive.accept(WANTED, sent=False)
    assert await archive.send([job.id, later.id]) == [job.id, later.id]
    for each in (job, later):
        told = await archive.cancel(each.id)
        assert (told.state, told.reason) == (State.CANCELING, wishing.LATER)
    assert await archive.wishes() == [(job.id, Wish.CANCEL), (later.id, Wish.CANCEL)]
    assert [each.id for each in (await archive.list(state=State.QUEUED)).jobs] == []
    # What the job store tells is right, as long as that is older than the wish, too.
    await archive.record(await archive.lead(), [excerpt(running(job))])
    assert (await archive.get(job.id)).state is State.RUNNING
    assert len(await archive.wishes()) == 2
    await archive.grant(job.id, Wish.PAUSE)  # which is not what is wished
    assert len(await archive.wishes()) == 2
    await archive.grant(job.id, Wish.CANCEL)
    assert await archive.wishes() == [(later.id, Wish.CANCEL)]
    with pytest.raises(UnknownJob):
        await archive.cancel("nobody")


async def test_it_is_sent_or_canceled_whatever_comes_first(archive: Archive) -> None:
    made = [(await archive.accept(WANTED, sent=False))[0].id for _ in range(10)]
    told, sent = await asyncio.gather(
        asyncio.gather(*map(archive.cancel, made)),
        asyncio.gather(*(archive.send([job]) for job in made)),
    )
    for job, each, by in zip(made, told, sent, strict=True):
        assert each.state is (State.CANCELING if by == [job] else State.CANCELED)


async def test_a_deleted_job_is_gone_and_is_buried_in_slices(
    archive: SqlArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wishing, "SLICE", 10)
    fence, (job, _) = await archive.lead(), await archive.accept(WANTED, key="k")
    other = await accepted(archive)
    events = [event(1, "submitted"), event(2, "claimed", attempt=1, epoch=1, worker="anne")]
    over = replace(running(job, seq=25), state=State.SUCCEEDED)
    await archive.record(fence, [excerpt(over, 1, lines(1, 25), events)])
    await archive.delete(job.id)
    assert await archive.wishes() == [(job.id, Wish.DELETE)]
    assert await archive.positions([job.id]) == {}
    assert [each.id for each in (await archive.list()).jobs] == [other.id]
    assert (await archive.accept(WANTED, key="k"))[1]  # its key went with it
    slices = 1
    while await archive.bury(job.id):
        slices += 1
    assert slices == 3 + 1 + 1  # its records, its events, itself
    for table, column in (("jobs", "id"), ("records", "job"), ("attempts", "job")):
        query = text(f"SELECT count(*) FROM {table} WHERE {column} = '{job.id}'")
        assert await archive._read(lambda at, query=query: at.execute(query).scalar()) == 0  # type: ignore[misc]
    assert not await archive.bury(other.id)  # nobody wished that
    assert (await archive.get(other.id)).id == other.id
