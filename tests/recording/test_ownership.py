"""A job store belongs to one archive; when that is lost another one adopts what is left."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.archived_store import LATER, ArchivedStore
from driftfold_api.recording.keeper import Keeper
from driftfold_api.recording.ownership import check_owner
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import ForeignStore, StoreUnreachable, Trimmed
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.window.window import RedisWindow
from tests.archive.told import WANTED
from tests.recording.stories import accepted, lose, running
from tests.workers.jobs import gone, lines, numbers

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def other(tmp_path: Path) -> AsyncIterator[SqlArchive]:
    async with SqlArchive.open(f"sqlite:///{tmp_path / 'other.sqlite'}") as archive:
        yield archive


async def test_a_second_archive_touches_nothing(
    store: RedisJobStore, archive: SqlArchive, other: SqlArchive
) -> None:
    claim = await running(store, archive)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 5))
    await Keeper(store, archive).step()
    wrong = []
    keeper = Keeper(store, other, doubt=lambda: wrong.append(1))
    with pytest.raises(ForeignStore, match=f"belongs to the archive {archive.id}.*--adopt"):
        await keeper.step()
    assert (await other.list()).jobs == []
    users = ArchivedStore(store, other)
    job, _ = await users.submit(WANTED)
    assert job.reason == LATER  # it is kept, and goes nowhere
    assert await gone(store, job.id)
    with pytest.raises(StoreUnreachable, match="belongs to the archive"):
        await users.get(claim.job.id)
    later, _ = await users.submit(WANTED)
    assert (await users.cancel(later.id)).state is State.CANCELED
    await lose(store)  # now it is nobody's
    await check_owner(store.window, other)
    with pytest.raises(ForeignStore):
        await Keeper(store, archive).step()


async def test_users_are_not_led_to_a_job_store_that_became_anothers(
    store: RedisJobStore, archive: SqlArchive, other: SqlArchive
) -> None:
    users = ArchivedStore(store, archive)
    job, _ = await users.submit(WANTED)
    assert (await users.get(job.id)).reason != LATER
    await check_owner(store.window, other, take=True)
    with pytest.raises(ForeignStore):
        await Keeper(store, archive, doubt=users.reach.doubt).step()
    users.reach.doubt()  # as `Keeper.run` has it
    assert (await users.get(job.id)).reason == LATER
    assert users.reach.lost


async def test_jobs_of_a_lost_archive_are_adopted(
    store: RedisJobStore, archive: SqlArchive, other: SqlArchive
) -> None:
    window = RedisWindow(store._link, margin=3)
    claim, queued = await running(store, archive), await accepted(store, archive)
    job, epoch = claim.job.id, claim.epoch
    await check_owner(window, archive)
    await store.append(job, epoch, 1, lines(1, 10), rounds=10, checkpoint="1:a")
    lost, fence = Recorder(window, archive), await archive.lead()
    while await lost.step(fence):
        pass
    with pytest.raises(Trimmed):
        await store.read(job)
    await check_owner(window, other, take=True)
    recorder, fence = Recorder(window, other), await other.lead()
    while await recorder.step(fence):
        pass
    assert {each.id for each in (await other.list()).jobs} == {job, queued.id}
    there = await other.get(job)
    assert (there.state, there.seq, there.checkpoint) == (State.RUNNING, 10, "1:a")
    await store.append(job, epoch, 11, lines(11, 12), rounds=12)
    await store.finish(job, epoch, State.SUCCEEDED, result={"a": 1})
    while await recorder.step(fence):
        pass
    over = await other.get(job)
    assert (over.state, over.result) == (State.SUCCEEDED, {"a": 1})
    told = await other.read(job)
    assert numbers(told) == [*range(1, 13)]
    kinds = [json.loads(record).get("kind") for record in told]
    assert kinds[:7] == ["lost"] * 7
    assert told[7:] == lines(8, 12)
    assert numbers(await other.read(job, after=5, limit=4)) == [6, 7, 8, 9]
    assert [each.worker for each in (await other.attempts(job))[0]] == [claim.job.worker]


async def test_a_deleted_job_is_not_adopted(store: RedisJobStore, archive: SqlArchive) -> None:
    job = await accepted(store, archive)
    await store.cancel(job.id)
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    await archive.delete(job.id)  # the job store does not know yet
    while await recorder.step(fence):
        pass
    assert (await archive.list()).jobs == []
