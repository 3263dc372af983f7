"""Recording: each record and event once, in order, whoever repeats them, and the end at the end."""

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Row, text

from driftfold_api.archive.base import Archive, Overtaken, Position
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import StoreError
from tests.archive.told import WANTED, accepted, event, excerpt, lines, running

pytestmark = pytest.mark.asyncio


async def test_the_life_of_a_job(archive: Archive) -> None:
    fence, job = await archive.lead(), await accepted(archive)
    begun = [event(1, "submitted"), event(2, "claimed", attempt=1, epoch=1, worker="anne", seq=0)]
    at_work = running(job, seq=3, rounds=3)
    await archive.record(fence, [excerpt(at_work, 1, lines(1, 3), begun)])
    assert await archive.get(job.id) == at_work
    ended = [event(3, "succeeded", attempt=1, epoch=1, worker="anne", seq=5)]
    over = replace(
        at_work,
        state=State.SUCCEEDED,
        seq=5,
        rounds=5,
        finished=job.created + 9.0,
        checkpoint="1:a",
        result={"gap": math.inf, "rows": [1, None]},
        reason="out of\0place",
    )
    await archive.record(fence, [excerpt(over, 4, lines(4, 5), ended)])
    assert await archive.get(job.id) == replace(over, reason="out of\ufffdplace")
    assert await archive.read(job.id) == lines(1, 5)
    assert await archive.read(job.id, after=1, limit=2) == lines(2, 3)
    assert await archive.events(job.id) == [*begun, *ended]
    assert await archive.events(job.id, after=1, limit=1) == begun[1:]
    news = await archive.news(job.id, after=4, events_after=2)
    assert (news.records, news.events, news.seq) == (lines(5, 5), ended, 5)
    assert news.state is State.SUCCEEDED
    assert await archive.unfinished() == []
    for after, limit in ((0, 0), (-1, 5)):
        with pytest.raises(StoreError, match="ask for one or more"):
            await archive.read(job.id, after=after, limit=limit)


async def test_what_is_recorded_twice_is_there_once(archive: Archive) -> None:
    fence, job = await archive.lead(), await accepted(archive)
    told = excerpt(running(job, seq=4), 1, lines(1, 4), [event(1, "submitted")])
    await archive.record(fence, [told])
    await archive.record(fence, [told])
    again = excerpt(running(job, seq=6), 3, lines(3, 6, "again"), [event(2, "checkpoint")])
    await archive.record(fence, [again])
    assert await archive.read(job.id) == lines(1, 4) + lines(5, 6, "again")
    assert [each.number for each in await archive.events(job.id)] == [1, 2]
    assert await archive.positions([job.id, "nobody"]) == {job.id: Position(6, 2)}


async def test_gaps_are_refused_and_nothing_of_the_batch_is_kept(archive: Archive) -> None:
    fence, first, second = await archive.lead(), await accepted(archive), await accepted(archive)
    sound = excerpt(running(first, seq=2), 1, lines(1, 2))
    for gap in (
        excerpt(running(second, seq=3), 2, lines(2, 3)),
        excerpt(running(second), 1, [], [event(2, "claimed")]),
    ):
        with pytest.raises(StoreError, match=f"{second.id} does not follow record 0 and event 0"):
            await archive.record(fence, [sound, gap])
    assert await archive.get(first.id) == first


async def test_a_job_is_over_once_its_whole_log_is_there(archive: Archive) -> None:
    fence, job = await archive.lead(), await accepted(archive)
    over = running(job, seq=5, finished=job.created + 2.0, checkpoint="1:late")
    over = replace(over, state=State.SUCCEEDED)
    await archive.record(fence, [excerpt(over, 1, lines(1, 3))])
    part = await archive.get(job.id)
    assert (part.state, part.seq, part.checkpoint) == (State.QUEUED, 3, None)
    assert await archive.unfinished() == [job.id]
    await archive.record(fence, [excerpt(over, 4, lines(4, 5))])
    assert await archive.get(job.id) == over


async def test_an_overtaken_recorder_writes_nothing(archive: Archive, url: str) -> None:
    job, old = await accepted(archive), await archive.lead()
    async with SqlArchive.open(url) as other:
        new = await other.lead()
        assert new > old
        with pytest.raises(Overtaken):
            await archive.record(old, [excerpt(running(job, seq=1), 1, lines(1, 1))])
        assert await archive.read(job.id) == []
        await other.record(new, [excerpt(running(job, seq=1), 1, lines(1, 1))])
    assert await archive.read(job.id) == lines(1, 1)


async def test_jobs_that_are_not_here_are_passed_over(archive: Archive) -> None:
    fence, job, other = await archive.lead(), await accepted(archive), await accepted(archive)
    await archive.delete(job.id)
    told = [excerpt(running(each, seq=1), 1, lines(1, 1)) for each in (job, other)]
    await archive.record(fence, told)
    assert await archive.read(other.id) == lines(1, 1)
    assert [each.id for each in (await archive.list()).jobs] == [other.id]


async def rows_of(archive: SqlArchive, query: str) -> Sequence[Row[Any]]:
    return await archive._read(lambda connection: connection.execute(text(query)).all())


async def test_nothing_is_left_of_a_deleted_job(archive: SqlArchive) -> None:
    fence, (job, _) = await archive.lead(), await archive.accept(WANTED, key="k")
    facts = {"attempt": 1, "epoch": 1, "worker": "anne", "seq": 0}
    events = [event(1, "submitted"), event(2, "claimed", **facts)]
    await archive.record(fence, [excerpt(running(job, seq=2), 1, lines(1, 2), events)])
    await archive.delete(job.id)
    while await archive.bury(job.id):
        pass
    for table in ("jobs", "attempts", "records", "lifecycle", "idempotency"):
        assert await rows_of(archive, f"SELECT * FROM {table}") == []


async def test_attempts_are_told_from_the_events(archive: SqlArchive) -> None:
    fence, job = await archive.lead(), await accepted(archive)
    first = {"attempt": 1, "epoch": 1, "worker": "anne"}
    second = {"attempt": 2, "epoch": 2, "worker": "bert"}
    events = [
        event(1, "submitted"),
        event(2, "claimed", **first, seq=0),
        event(3, "lost", **first, seq=4, reason="no sign", outcome="lease lost"),
        event(4, "resumed", **second, seq=4),
    ]
    job = running(job, seq=4, attempt=2, epoch=2, worker="bert")
    for seen in range(1, 5):  # as they come, one at a time
        await archive.record(fence, [excerpt(job, 1, lines(1, 4), events[seen - 1 : seen])])
    rows = await rows_of(archive, "SELECT * FROM attempts ORDER BY epoch")
    told = [(row.worker, bool(row.resumed), row.outcome, row.first, row.last) for row in rows]
    assert told == [("anne", False, "lease lost", 0, 4), ("bert", True, "running", 4, None)]
    assert (rows[0].started, rows[0].ended, rows[1].ended) == (1.8e9 + 2, 1.8e9 + 3, None)


async def test_many_records(archive: Archive) -> None:
    fence, job = await archive.lead(), await accepted(archive)
    told = lines(1, 1100, "x" * 100)
    await archive.record(fence, [excerpt(running(job, seq=1100), 1, told)])
    seen: list[bytes] = []
    while part := await archive.read(job.id, after=len(seen), limit=400):
        seen += part
    assert seen == told


async def test_readers_and_writers_at_once(archive: Archive, url: str) -> None:
    fence, job = await archive.lead(), await accepted(archive)

    async def write() -> None:
        for seq in range(1, 6):
            await archive.record(fence, [excerpt(running(job, seq=seq), seq, lines(seq, seq))])

    async def read(source: Archive) -> None:
        seq = 0
        while seq < 5:
            news = await source.news(job.id, after=seq)
            assert len(news.records) == news.seq - seq  # of one moment
            seq = news.seq
            await asyncio.sleep(0)

    async with SqlArchive.open(url) as other:
        await asyncio.gather(write(), read(archive), read(other), accepted(other))
    assert [json.loads(record)["seq"] for record in await archive.read(job.id)] == [*range(1, 6)]
