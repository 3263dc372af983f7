"""Retention: what is over for long goes, with its records and keys, and nothing else does."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from driftfold_api.archive import accepting, retention
from driftfold_api.archive.base import Archive, Wish
from driftfold_api.archive.group import GroupWanted
from driftfold_api.archive.group_tables import group_keys
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.new_id import made
from driftfold_workers.jobs.store import UnknownJob
from tests.archive.told import WANTED, accepted, excerpt, lines, running

pytestmark = pytest.mark.asyncio


async def test_jobs_that_are_over_for_long_are_deleted(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    fence, now = await archive.lead(), made((await accepted(archive)).id)
    old = []
    for state in (State.SUCCEEDED, State.FAILED, State.CANCELED):
        job, _ = await archive.accept(WANTED, key=str(state))
        over = replace(running(job, seq=2), state=state, finished=now + 10.0)
        await archive.record(fence, [excerpt(over, 1, lines(1, 2))])
        old.append(job.id)
    young, at_work = await accepted(archive), await accepted(archive)
    over = replace(running(young), state=State.SUCCEEDED, finished=now + 20.0)
    await archive.record(fence, [excerpt(over), excerpt(running(at_work))])
    assert not await archive.retire(None, now)
    assert not await archive.retire(now + 10.0, now)
    assert await archive.retire(now + 15.0, now)  # there may be more
    assert await archive.wishes() == [(job, Wish.DELETE) for job in old[:2]]
    assert not await archive.retire(now + 15.0, now)
    assert await archive.wishes() == [(job, Wish.DELETE) for job in old]
    for gone in old:
        with pytest.raises(UnknownJob):
            await archive.get(gone)
    assert (await archive.accept(WANTED, key="succeeded"))[1]
    assert {each.id for each in (await archive.list()).jobs} >= {young.id, at_work.id}


async def test_keys_that_count_no_more_are_removed(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "KEYS", 2)
    jobs = [(await archive.accept(WANTED, key=str(k)))[0].id for k in range(3)]
    now = made(jobs[-1])
    assert not await archive.retire(None, now + accepting.KEEP - 60.0)
    assert await archive.retire(None, now + accepting.KEEP + 1.0)
    assert not await archive.retire(None, now + accepting.KEEP + 1.0)
    assert (await archive.accept(WANTED, key="0"))[1]
    assert [(await archive.get(job)).id for job in jobs] == jobs


async def test_keys_of_groups_are_removed_likewise(archive: SqlArchive) -> None:
    children = [({"seed": 1}, WANTED)]
    asked = GroupWanted("n", {"seed": 7}, {"grid": {"seed": [1]}}, None, children)
    group, _, _ = await archive.groups.accept(asked, key="k")
    keys = select(func.count()).select_from(group_keys)
    for later, left in ((-60.0, 1), (60.0, 0)):
        await archive.retire(None, group.created + accepting.KEEP + later)
        assert await archive._read(lambda connection: connection.execute(keys).scalar()) == left
    assert (await archive.groups.get(group.id)).id == group.id
