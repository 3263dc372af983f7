"""The recorder: all that happened, once, whoever is killed in between; then the log is trimmed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from driftfold_api.archive.base import Archive, Overtaken
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording import recorder as module
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import StoreUnreachable, Trimmed
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.window.window import RedisWindow
from tests.recording.stories import accepted, running
from tests.workers.jobs import lines, numbers, submitted

pytestmark = pytest.mark.asyncio


async def recorded(recorder: Recorder, fence: int) -> None:
    """Everything is recorded."""
    while await recorder.step(fence):
        pass


async def assert_same(store: RedisJobStore, archive: Archive, job: str) -> None:
    """The archive has of a job what the job store has."""
    kept = await archive.get(job)
    there = replace(await store.get(job), position=None)  # its place in the queue is no record
    if kept.state is State.QUEUED:
        there = replace(there, reason=kept.reason)  # what it waits for is no record
    assert kept == there
    assert await archive.events(job) == await store.events(job)
    assert await archive.read(job) == await store.read(job)


async def test_the_life_of_a_job(store: RedisJobStore, archive: SqlArchive) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    claim = await running(store, archive)
    job, epoch = claim.job.id, claim.epoch
    await recorded(recorder, fence)
    await assert_same(store, archive, job)
    await store.append(job, epoch, 1, lines(1, 3), rounds=3, checkpoint="1:a")
    await recorded(recorder, fence)
    await assert_same(store, archive, job)
    await store.append(job, epoch, 4, lines(4, 5), rounds=5)
    await store.finish(job, epoch, State.SUCCEEDED, result={"a": 1.5}, outcome="finished")
    await recorded(recorder, fence)
    await assert_same(store, archive, job)
    assert (await archive.get(job)).state is State.SUCCEEDED
    assert await store.window.unrecorded(9) == []
    assert not await recorder.step(fence)


async def test_much_is_recorded_in_steps(
    store: RedisJobStore, archive: SqlArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RECORDS", 10)
    monkeypatch.setattr(module, "JOBS", 2)
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    jobs = []
    for count in (3, 10, 25):
        claim = await running(store, archive)
        await store.append(claim.job.id, claim.epoch, 1, lines(1, count))
        await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED)
        jobs.append(claim.job.id)
    steps = 1
    while await recorder.step(fence):
        steps += 1
    assert steps >= 3
    for job in jobs:
        await assert_same(store, archive, job)


async def test_of_long_records_a_step_takes_fewer(
    store: RedisJobStore, archive: SqlArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BYTES", 4000)
    monkeypatch.setattr(module, "FIRST", 8)
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    claim = await running(store, archive)
    job = claim.job.id
    await store.append(job, claim.epoch, 1, [*lines(1, 40), *lines(41, 80, "x" * 400)])
    sizes, before = [], 0
    while await recorder.step(fence):
        after = (await archive.positions([job]))[job].seq
        sizes.append(after - before)
        before = after
    assert sizes[:3] == [8, 16, 16]
    assert set(sizes[4:]) == {8}
    await assert_same(store, archive, job)


class Torn(RedisWindow):
    """A window that breaks after the archive has committed."""

    async def recorded(self, job: str, seq: int, events: int) -> bool:
        raise StoreUnreachable("torn")


async def test_a_step_that_was_cut_short_is_repeated(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    claim = await running(store, archive)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 5))
    torn, fence = Recorder(Torn(store._link), archive), await archive.lead()
    for _ in range(2):
        with pytest.raises(StoreUnreachable):
            await torn.step(fence)
    await recorded(Recorder(store.window, archive), await archive.lead())
    await assert_same(store, archive, claim.job.id)


async def test_two_recorders_at_once(store: RedisJobStore, archive: SqlArchive) -> None:
    claim = await running(store, archive)
    job, epoch = claim.job.id, claim.epoch
    old, new = await archive.lead(), await archive.lead()
    first, second = (Recorder(store.window, archive) for _ in range(2))
    for seq in range(1, 6):
        await store.append(job, epoch, seq, lines(seq, seq))
        outcomes = await asyncio.gather(first.step(old), second.step(new), return_exceptions=True)
        assert [isinstance(outcome, Overtaken) for outcome in outcomes] == [True, False]
    await assert_same(store, archive, job)


async def test_the_log_is_trimmed_but_for_a_margin(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder = Recorder(RedisWindow(store._link, margin=3), archive)
    fence, claim = await archive.lead(), await running(store, archive)
    job, epoch = claim.job.id, claim.epoch
    await store.append(job, epoch, 1, lines(1, 10))
    assert numbers(await store.read(job)) == [*range(1, 11)]
    await recorded(recorder, fence)
    assert numbers(await store.read(job, after=7)) == [8, 9, 10]
    for after in (0, 6):
        with pytest.raises(Trimmed, match=f"record {after + 1} of job {job}"):
            await store.read(job, after=after)
        with pytest.raises(Trimmed):
            await store.news(job, after=after)
    assert numbers(await archive.read(job)) == [*range(1, 11)]
    # Whoever writes goes on as if nothing was gone.
    assert await store.append(job, epoch, 9, lines(9, 12)) == 12
    assert await store.read(job, after=12) == []
    await recorded(recorder, fence)
    assert numbers(await archive.read(job)) == [*range(1, 13)]


class Busy(RedisWindow):
    """A window whose job goes on between the look and the note."""

    def __init__(self, store: RedisJobStore, epoch: int) -> None:
        super().__init__(store._link, margin=0)
        self._store = store
        self._epoch = epoch
        self.seq = 1

    async def recorded(self, job: str, seq: int, events: int) -> bool:
        if self.seq < 4:
            self.seq += 1
            await self._store.append(job, self._epoch, self.seq, lines(self.seq, self.seq))
        return await super().recorded(job, seq, events)


async def test_what_comes_during_a_step_is_not_trimmed(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    claim = await running(store, archive)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 1))
    window = Busy(store, claim.epoch)
    await recorded(Recorder(window, archive), await archive.lead())
    assert numbers(await archive.read(claim.job.id)) == [1, 2, 3, 4]
    assert await store.window.unrecorded(9) == []


async def test_jobs_that_were_not_accepted_or_are_deleted_stop_nobody(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    await submitted(store)  # past the archive
    deleted, other = await accepted(store, archive), await accepted(store, archive)
    await archive.delete(deleted.id)
    await recorded(recorder, fence)
    assert await store.window.unrecorded(9) == []
    await assert_same(store, archive, other.id)


async def test_an_archive_that_lacks_what_was_trimmed_stops_that_job_only(
    store: RedisJobStore, archive: SqlArchive, caplog: pytest.LogCaptureFixture
) -> None:
    fence, claim = await archive.lead(), await running(store, archive)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 5))
    await store.window.recorded(claim.job.id, 0, 0)
    await RedisWindow(store._link, margin=0).recorded(claim.job.id, 5, 0)  # it was not
    other = await accepted(store, archive)
    await recorded(Recorder(store.window, archive), fence)
    assert f"job {claim.job.id} cannot be recorded further" in caplog.text
    await assert_same(store, archive, other.id)


async def test_many_jobs_share_a_commit(
    store: RedisJobStore, archive: SqlArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    write = archive.record

    async def count(fence: int, excerpts: Sequence[Excerpt]) -> None:
        sizes.append(len(excerpts))
        await write(fence, excerpts)

    monkeypatch.setattr(archive, "record", count)
    for _ in range(5):
        await accepted(store, archive)
    await recorded(Recorder(store.window, archive), await archive.lead())
    assert sizes == [5]
