"""The reconciler: what was accepted is queued, what is over or deleted never comes back."""

from pathlib import Path

import pytest

from driftfold_api.archive.base import Wanted, Wish
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording.reconciler import Reconciler
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Fenced, Trimmed, UnknownJob
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.window.window import RedisWindow
from tests.recording.stories import accepted, lose, running
from tests.workers.jobs import KINDS, SPEC, claimed, gone, lines, numbers, told

pytestmark = pytest.mark.asyncio


async def test_what_was_accepted_is_queued(store: RedisJobStore, archive: SqlArchive) -> None:
    queued = await accepted(store, archive)
    job, _ = await archive.accept(Wanted(SPEC, KINDS, "later", 9))
    assert await Reconciler(store, archive).step() == []  # whoever accepted it is at it
    reconciler = Reconciler(store, archive, grace=0.0)
    assert await reconciler.step() == [job.id]
    assert await reconciler.step() == []
    there = await store.get(job.id)
    assert (there.spec, there.needs, there.name) == (job.spec, job.needs, job.name)
    assert (there.created, there.horizon_rounds, there.state) == (job.created, 9, State.QUEUED)
    assert await told(store, job.id) == ["submitted"]
    assert [(await claimed(store)).job.id for _ in range(2)] == [queued.id, job.id]


async def test_jobs_outlive_the_job_store(store: RedisJobStore, archive: SqlArchive) -> None:
    claim = await running(store, archive)
    job, epoch = claim.job.id, claim.epoch
    await store.append(job, epoch, 1, lines(1, 3), rounds=3, checkpoint="1:a")
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    await recorder.step(fence)
    await store.append(job, epoch, 4, lines(4, 6), rounds=6, checkpoint="1:b")  # not recorded
    await lose(store)
    assert await Reconciler(store, archive, grace=0.0).step() == [job]
    there = await store.get(job)
    # The snapshot is one that the log vouches for, or records would be left out for ever.
    assert (there.state, there.seq, there.rounds, there.checkpoint) == ("queued", 3, 3, "1:a")
    with pytest.raises(Fenced):
        await store.append(job, epoch, 4, lines(4, 6))
    again = await claimed(store, "bert")
    assert again.job.id == job
    assert (again.job.attempt, again.job.checkpoint) == (2, "1:a")
    for stale in range(epoch, epoch + 9):  # those of which nothing was recorded
        with pytest.raises(Fenced):
            await store.append(job, stale, 4, lines(4, 6))
    with pytest.raises(Trimmed):
        await store.read(job)
    assert await store.append(job, again.epoch, 2, lines(2, 8), rounds=8) == 8
    await store.finish(job, again.epoch, State.SUCCEEDED)
    await recorder.step(fence)
    assert await archive.read(job) == lines(1, 8)
    kinds = [event.kind for event in await archive.events(job)]
    assert kinds == ["submitted", "claimed", "checkpoint", "lost", "resumed", "succeeded"]
    assert (await archive.get(job)).state is State.SUCCEEDED


async def test_what_is_over_or_deleted_does_not_come_back(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    over, deleted = await accepted(store, archive), await accepted(store, archive)
    await store.cancel(over.id)
    await recorder.step(fence)
    await archive.delete(deleted.id)
    await lose(store)
    assert await Reconciler(store, archive, grace=0.0).step() == []
    assert await gone(store, over.id)
    assert await gone(store, deleted.id)


async def test_a_job_that_is_deleted_while_it_is_queued_again_is_taken_back(
    store: RedisJobStore, archive: SqlArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = await archive.accept(Wanted(SPEC, KINDS))
    enqueue = store.enqueue

    async def meanwhile(known: Job, *, events: int = 0) -> bool:
        await archive.delete(known.id)
        return await enqueue(known, events=events)

    monkeypatch.setattr(store, "enqueue", meanwhile)
    await Reconciler(store, archive, grace=0.0).step()
    assert await gone(store, job.id)


async def test_wishes_are_granted(store: RedisJobStore, archive: SqlArchive) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    claim = await running(store, archive)
    queued, lost = await accepted(store, archive), await accepted(store, archive)
    over = await accepted(store, archive)
    await store.cancel(over.id)
    while await recorder.step(fence):
        pass
    await archive.delete(over.id)
    for job in (claim.job, queued, lost):
        assert (await archive.cancel(job.id)).state is State.CANCELING
    await store._link.call(lambda redis: redis.delete(store.keys.job(lost.id)))
    reconciler = Reconciler(store, archive, grace=0.0)
    assert await reconciler.step() == []
    assert await archive.wishes() == []
    assert await gone(store, over.id)
    for job, state in (
        (claim.job, State.CANCELING),
        (queued, State.CANCELED),
        (lost, State.CANCELED),
    ):
        assert (await store.get(job.id)).state is state
    while await recorder.step(fence):
        pass
    assert (await archive.get(lost.id)).state is State.CANCELED
    with pytest.raises(UnknownJob):
        await archive.get(over.id)


async def test_jobs_are_paused_and_resumed_as_was_wished(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    runs, goes_on = await running(store, archive), await running(store, archive)
    queued, lost, paused = [await accepted(store, archive) for _ in range(3)]
    over = await accepted(store, archive)
    await store.pause(paused.id)
    while await recorder.step(fence):
        pass
    for job in (runs.job, goes_on.job, queued, lost, over):
        assert (await archive.pause(job.id)).pausing
    for job in (goes_on.job, paused):
        await archive.resume(job.id)
    await store.cancel(over.id)  # unrecorded
    await store._link.call(lambda redis: redis.delete(store.keys.job(lost.id)))
    reconciler = Reconciler(store, archive, grace=0.0)
    await reconciler.step()
    assert await archive.wishes() == []
    assert await store.heartbeat(runs.job.id, runs.epoch, 30.0) == "pause"
    assert await store.heartbeat(goes_on.job.id, goes_on.epoch, 30.0) == "ok"
    for job, state in (
        (queued, State.PAUSED),
        (lost, State.PAUSED),
        (paused, State.QUEUED),
        (over, State.CANCELED),
    ):
        assert (await store.get(job.id)).state is state
    while await recorder.step(fence):
        pass
    for job in (queued, lost):
        assert (await archive.get(job.id)).state is State.PAUSED


async def test_a_job_that_was_paused_before_it_was_ever_queued_is_queued_so(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    paused, _ = await archive.accept(Wanted(SPEC, KINDS), sent=False)
    moved, _ = await archive.accept(Wanted(SPEC, KINDS), sent=False)
    for job in (paused, moved):
        await archive.pause(job.id)
    await archive.resume(moved.id)
    await Reconciler(store, archive, grace=0.0).step()
    assert (await store.get(paused.id)).state is State.PAUSED
    assert (await claimed(store)).job.id == moved.id
    await store.resume(paused.id)
    assert (await claimed(store)).job.id == paused.id
    while await recorder.step(fence):
        pass
    kinds = [each.kind for each in await archive.events(paused.id)]
    assert kinds == ["submitted", "paused", "unpaused", "claimed"]
    kinds = [each.kind for each in await archive.events(moved.id)]
    assert kinds == ["submitted", "paused", "unpaused", "claimed"]


async def test_what_is_deleted_and_not_over_there_waits(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    job = await accepted(store, archive)  # as after a loss of the last second of the job store
    await archive.delete(job.id)
    reconciler = Reconciler(store, archive, grace=0.0)
    await reconciler.step()
    assert await archive.wishes() == [(job.id, Wish.DELETE)]
    await store.cancel(job.id)
    await reconciler.step()
    assert await archive.wishes() == []
    assert await gone(store, job.id)


async def test_what_no_worker_has_cleared_up_is_before_it_is_forgotten(
    store: RedisJobStore, archive: SqlArchive, tmp_path: Path
) -> None:
    runs, window = Runs.at(tmp_path), RedisWindow(store._link, keep=0.0)
    recorder, fence = Recorder(window, archive), await archive.lead()
    left, cleared = await running(store, archive), await running(store, archive)
    for claim in (left, cleared):
        runs.of(claim.job.id).put("rounds/x.npz", lambda file: file.write(b"something"))
        await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED)
    await store.cleared(cleared.job.id)
    await recorder.step(fence)
    await Reconciler(store, archive, runs=runs).forget()
    assert await gone(store, left.job.id)
    assert runs.of(left.job.id).walk("") == []
    assert runs.of(cleared.job.id).walk("") == ["rounds/x.npz"]  # it was told to be clear
    assert await window.uncleared([left.job.id]) == []


async def test_the_job_store_forgets_what_is_recorded_to_its_end(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    window = RedisWindow(store._link, keep=0.0)
    recorder, fence = Recorder(window, archive), await archive.lead()
    claim, queued = await running(store, archive), await accepted(store, archive)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 5))
    reconciler = Reconciler(store, archive, grace=0.0)
    await recorder.step(fence)
    await reconciler.forget()
    assert numbers(await store.read(claim.job.id)) == [1, 2, 3, 4, 5]
    await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED, result={"a": 1})
    await reconciler.forget()
    assert (await store.get(claim.job.id)).state is State.SUCCEEDED  # it is not recorded so
    await recorder.step(fence)
    await reconciler.forget()
    assert await gone(store, claim.job.id)
    assert await reconciler.step() == []
    assert [job.id for job in (await store.list()).jobs] == [queued.id]
    assert (await archive.get(claim.job.id)).result == {"a": 1}
    assert numbers(await archive.read(claim.job.id)) == [1, 2, 3, 4, 5]
