"""Jobs that wait for others: let go, held on, or canceled with a reason."""

import pytest

from driftfold_api.archive.base import UnknownPrerequisite, Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording.prerequisites import Prerequisites
from driftfold_api.recording.reconciler import Reconciler
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import new_id
from driftfold_workers.jobs.terms import Terms
from driftfold_workers.redis_store import RedisJobStore
from tests.recording.stories import accepted, lose
from tests.workers.jobs import KINDS, SPEC, claimed, told

pytestmark = pytest.mark.asyncio


async def after(store: RedisJobStore, archive: SqlArchive, *jobs: str) -> str:
    """A job that waits for others."""
    job, _ = await archive.accept(Wanted(SPEC, KINDS, terms=Terms(after=jobs)))
    assert await store.enqueue(job)
    return job.id


async def end(store: RedisJobStore, job: Job, state: State) -> None:
    if state is State.CANCELED:
        await store.cancel(job.id)
    else:
        claim = await claimed(store)
        assert claim.job.id == job.id
        await store.finish(job.id, claim.epoch, state, reason="so")


async def test_a_job_runs_once_all_that_it_waits_for_has_succeeded(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    prerequisites = Prerequisites(store.holding, archive)
    first, second = await accepted(store, archive), await accepted(store, archive)
    job = await after(store, archive, first.id, second.id)
    assert (await store.get(job)).reason == f"waits for job {first.id} and 1 more"
    await end(store, first, State.SUCCEEDED)
    assert await prerequisites.step() == []
    await end(store, second, State.SUCCEEDED)
    assert await prerequisites.step() == [job]
    assert await prerequisites.step() == []
    assert not (await store.get(job)).held
    assert (await claimed(store)).job.id == job
    assert await told(store, job) == ["submitted", "claimed"]


@pytest.mark.parametrize(
    ("state", "how"),
    [(State.FAILED, "has failed"), (State.CANCELED, "was canceled"), (None, "was deleted")],
)
async def test_a_job_is_canceled_when_it_waits_in_vain(
    store: RedisJobStore, archive: SqlArchive, state: State | None, how: str
) -> None:
    prerequisites = Prerequisites(store.holding, archive)
    first = await accepted(store, archive)
    job = await after(store, archive, first.id)
    following = await after(store, archive, job)
    await end(store, first, state or State.CANCELED)
    if state is None:
        await archive.delete(first.id)
        await store.delete(first.id)
    assert job in await prerequisites.step()
    gave_up = await store.get(job)
    reason = f"job {first.id}, for which it waits, {how}"
    assert (gave_up.state, gave_up.reason) == (State.CANCELED, reason)
    await prerequisites.step()
    assert (await store.get(following)).state is State.CANCELED


async def test_a_prerequisite_may_be_in_the_archive_only(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    prerequisites = Prerequisites(store.holding, archive)
    first, other = await accepted(store, archive), await accepted(store, archive)
    job, held = await after(store, archive, first.id), await after(store, archive, other.id)
    await end(store, first, State.SUCCEEDED)
    await recorder.step(fence)
    await lose(store)
    # Nothing of the queue is left, and the jobs come back one by one.
    assert set(await Reconciler(store, archive, grace=0.0).step()) == {other.id, job, held}
    assert await prerequisites.step() == [job]
    assert {(await claimed(store)).job.id for _ in range(2)} == {other.id, job}
    assert (await store.get(held)).held


async def test_a_prerequisite_that_is_accepted_and_not_queued_yet_is_waited_for(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    first, _ = await archive.accept(Wanted(SPEC, KINDS))
    job = await after(store, archive, first.id)
    assert await Prerequisites(store.holding, archive).step() == []
    assert (await store.get(job)).held


async def test_a_paused_job_waits_on_when_it_is_resumed(
    store: RedisJobStore, archive: SqlArchive
) -> None:
    prerequisites = Prerequisites(store.holding, archive)
    first = await accepted(store, archive)
    job = await after(store, archive, first.id)
    await store.pause(job)
    await end(store, first, State.SUCCEEDED)
    assert await prerequisites.step() == []
    await store.resume(job)
    assert (await store.get(job)).reason == f"waits for job {first.id}"
    assert await prerequisites.step() == [job]


async def test_nobody_waits_for_what_there_is_not(archive: SqlArchive) -> None:
    there, _ = await archive.accept(Wanted(SPEC, KINDS))
    missing = new_id()
    wanted = Wanted(SPEC, KINDS, terms=Terms(after=(there.id, missing)))
    for key in (None, "k"):
        with pytest.raises(UnknownPrerequisite, match=missing):
            await archive.accept(wanted, key=key)
    assert [job.id for job in (await archive.list()).jobs] == [there.id]
