"""Every job store keeps one contract: jobs that wait until somebody wants them again."""

from dataclasses import replace

import pytest

from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import new_id
from driftfold_workers.jobs.store import Conflict, Fenced, JobStore, UnknownJob
from tests.workers.jobs import (
    KINDS,
    SHORT,
    SPEC,
    claimed,
    lines,
    reaped,
    running,
    submitted,
    told,
)

pytestmark = pytest.mark.asyncio


async def given_back(store: JobStore, job: str, epoch: int) -> State:
    """What becomes of a job whose process stopped to be paused."""
    return await store.release(job, epoch, reason="", counted=False, attempts=1, outcome="paused")


async def test_a_queued_job_is_paused_at_once_and_comes_back_in_its_place(store: JobStore) -> None:
    first, second, third = [(await submitted(store)).id for _ in range(3)]
    for _ in range(2):  # asking twice is no error
        assert (await store.pause(first)).state is State.PAUSED
    assert (await claimed(store)).job.id == second
    assert [job.id for job in (await store.list(state=State.PAUSED)).jobs] == [first]
    assert (await store.resume(first)).state is State.QUEUED
    assert [(await claimed(store)).job.id for _ in range(2)] == [first, third]
    assert await told(store, first) == ["submitted", "paused", "unpaused", "claimed"]


async def test_a_running_job_is_asked_to_pause_and_its_attempt_does_not_count(
    store: JobStore,
) -> None:
    claim = await running(store)
    job, epoch = claim.job.id, claim.epoch
    for _ in range(2):
        asked = await store.pause(job)
        assert (asked.state, asked.reason) == ("running", "it is paused at the end of its round")
        assert await store.heartbeat(job, epoch, 30.0) == "pause"
    assert await store.append(job, epoch, 1, lines(1, 2), checkpoint="1:a") == 2
    assert await given_back(store, job, epoch) is State.PAUSED
    paused = await store.get(job)
    assert (paused.attempt, paused.checkpoint, paused.seq, paused.reason) == (0, "1:a", 2, "")
    assert await store.claim("bert", KINDS, 1.0) is None
    with pytest.raises(Fenced):
        await store.append(job, epoch, 3, lines(3, 3))
    await store.resume(job)
    following = await claimed(store, "bert")
    assert (following.job.attempt, following.job.checkpoint) == (1, "1:a")
    assert await store.heartbeat(job, following.epoch, 30.0) == "ok"
    assert await told(store, job) == [
        "submitted", "claimed", "pause-requested", "checkpoint", "released", "paused", "unpaused",
        "resumed",
    ]  # fmt: skip
    assert (await store.events(job))[4].facts["outcome"] == "paused"


async def test_a_pause_that_is_taken_back_before_it_came(store: JobStore) -> None:
    claim = await running(store)
    job, epoch = claim.job.id, claim.epoch
    await store.pause(job)
    assert (await store.resume(job)).reason == ""
    assert await store.heartbeat(job, epoch, 30.0) == "ok"
    # Its process may have stopped all the same: then it is queued.
    assert await given_back(store, job, epoch) is State.QUEUED
    with pytest.raises(Conflict, match="is queued; only a paused job can be resumed"):
        await store.resume(job)


@pytest.mark.parametrize("lost", [True, False])
async def test_a_job_that_ends_an_attempt_badly_while_it_is_to_be_paused_is_paused(
    store: JobStore, lost: bool
) -> None:
    claim = await running(store, lease=SHORT)
    await store.pause(claim.job.id)
    if lost:
        await reaped(store, claim.job.id)
    else:
        await store.release(claim.job.id, claim.epoch, reason="died", counted=True, attempts=3)
    job = await store.get(claim.job.id)
    assert (job.state, job.attempt, job.due) == (State.PAUSED, 1, None)
    assert await store.reap(3) == []
    await store.resume(job.id)
    following = await claimed(store)
    await store.pause(job.id)
    state = await store.release(job.id, following.epoch, reason="died", counted=True, attempts=2)
    assert state is State.FAILED  # its attempts are over


async def test_a_job_that_rests_between_attempts_does_so_no_more(store: JobStore) -> None:
    job = (await submitted(store)).id
    for _ in range(2):
        claim = await claimed(store)
        await store.release(
            job, claim.epoch, reason="died", counted=True, attempts=5, back_off=True
        )
    assert (await store.get(job)).due is not None
    assert (await store.pause(job)).due is None
    await store.resume(job)
    assert (await claimed(store)).job.id == job


@pytest.mark.parametrize("ends", [True, False])
async def test_a_run_that_ends_before_its_pause_has_ended(store: JobStore, ends: bool) -> None:
    claim = await running(store)
    await store.pause(claim.job.id)
    if ends:
        await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED, result={})
    else:
        assert (await store.cancel(claim.job.id)).state is State.CANCELING
        assert await store.heartbeat(claim.job.id, claim.epoch, 30.0) == "cancel"
        with pytest.raises(Conflict, match="is canceling; only a job that is queued or runs"):
            await store.pause(claim.job.id)
        await store.finish(claim.job.id, claim.epoch, State.CANCELED)
    over = (await store.get(claim.job.id)).state
    for move in (store.pause, store.resume):
        with pytest.raises(Conflict, match=str(over)):
            await move(claim.job.id)


async def test_a_paused_job_is_canceled_at_once_and_deleted_only_then(store: JobStore) -> None:
    job = (await submitted(store)).id
    await store.pause(job)
    with pytest.raises(Conflict, match="is paused"):
        await store.delete(job)
    assert (await store.cancel(job)).state is State.CANCELED
    await store.delete(job)
    for move in (store.pause, store.resume):
        with pytest.raises(UnknownJob):
            await move(job)


async def test_a_job_that_was_paused_elsewhere_stays_so(store: JobStore) -> None:
    known = Job(new_id(), SPEC, KINDS, State.PAUSED, created=1.8e9)
    known = replace(known, started=1.8e9 + 1.0, attempt=1, epoch=7, seq=4, checkpoint="7:a")
    assert await store.enqueue(known, events=5)
    assert (await store.get(known.id)).state is State.PAUSED
    assert await store.claim("anne", KINDS, 1.0) is None
    await store.resume(known.id)
    assert (await claimed(store)).epoch == 8
