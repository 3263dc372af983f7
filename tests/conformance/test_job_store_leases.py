"""Every job store keeps one contract: who may run a job, and until when."""

import asyncio

import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import NO_SIGN, Conflict, Fenced, JobStore
from driftfold_workers.jobs.usage import UNUSED, Usage
from tests.workers.jobs import (
    KINDS,
    SHORT,
    claimed,
    gone,
    lines,
    numbers,
    reaped,
    running,
    submitted,
    told,
)

pytestmark = pytest.mark.asyncio


async def test_the_oldest_job_comes_first(store: JobStore) -> None:
    jobs = [(await submitted(store)).id for _ in range(3)]
    assert [(await claimed(store)).job.id for _ in jobs] == jobs
    assert await store.claim("anne", KINDS, 1.0) is None


async def test_a_job_goes_only_to_a_worker_that_has_its_kinds(store: JobStore) -> None:
    odd = await submitted(store, [*KINDS, "task:odd"])
    plain = await submitted(store, KINDS[:1])
    assert await store.claim("anne", ["task:odd"], 1.0) is None
    claim = await claimed(store)
    assert claim.job.id == plain.id
    assert await store.claim("anne", KINDS, 1.0) is None
    claim_of_odd = await store.claim("bert", [*KINDS, "task:odd", "task:more"], 1.0)
    assert claim_of_odd is not None
    assert claim_of_odd.job.id == odd.id


async def test_a_job_without_needs_goes_to_anybody(store: JobStore) -> None:
    job = await submitted(store, [])
    claim = await store.claim("anne", [], 1.0)
    assert claim is not None
    assert claim.job.id == job.id


async def test_what_attempts_have_used_up_is_kept(store: JobStore) -> None:
    claim = await running(store)
    job = claim.job.id
    assert claim.job.used == UNUSED
    await store.heartbeat(job, claim.epoch, 30.0, Usage(1.5, 2.25))
    await store.heartbeat(job, claim.epoch, 30.0)  # of one that knows of none
    assert (await store.get(job)).used == Usage(1.5, 2.25)
    how = {"reason": "x", "counted": False, "attempts": 3}
    await store.release(job, claim.epoch, **how, used=Usage(1.75, 2.5))  # type: ignore[arg-type]
    again = await claimed(store, lease=SHORT)
    assert again.job.used == Usage(1.75, 2.5)
    with pytest.raises(Fenced):
        await store.finish(job, claim.epoch, State.FAILED, used=Usage(9.0, 9.0))
    assert await store.heartbeat(job, claim.epoch, 30.0, Usage(9.0, 9.0)) == "lost"
    await reaped(store, job)
    last = await claimed(store)
    assert last.job.used == Usage(1.75, 2.5)
    await store.finish(job, last.epoch, State.FAILED, used=Usage(3.0, 4.0))
    assert (await store.get(job)).used == Usage(3.0, 4.0)


async def test_what_has_run_and_is_over_is_cleared_up_after(store: JobStore) -> None:
    canceled = await submitted(store)
    await store.cancel(canceled.id)  # it never ran
    runs, paused, over, told = [await running(store, lease=0.02) for _ in range(4)]
    await store.release(paused.job.id, paused.epoch, reason="x", counted=True, attempts=3)
    await store.pause(paused.job.id)  # it may run again
    for claim in (over, told):
        await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED)
    await store.cleared(told.job.id)
    await asyncio.sleep(0.05)
    assert await store.uncleared(10, 0.1) == [over.job.id]
    assert await store.uncleared(10, 0.1) == []  # it was given to somebody
    await asyncio.sleep(0.15)
    assert await store.uncleared(10, 30.0) == [over.job.id]
    await store.cleared(over.job.id)
    await store.cancel(paused.job.id)
    await asyncio.sleep(0.05)
    assert await store.uncleared(10, 0.0) == [paused.job.id]
    await store.delete(paused.job.id)
    assert await store.uncleared(10, 0.0) == []
    assert (await store.get(runs.job.id)).state is State.RUNNING


async def test_a_job_is_not_cleared_up_after_while_its_worker_may_do_it(store: JobStore) -> None:
    claim = await running(store, lease=30.0)
    await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED)
    assert await store.uncleared(10, 0.0) == []


@pytest.mark.parametrize("end", ["lost", "released", "drained", "finished", "deleted"])
async def test_an_attempt_that_was_given_up_writes_nothing(store: JobStore, end: str) -> None:
    claim = await running(store, lease=SHORT if end == "lost" else 30.0)
    job, epoch = claim.job.id, claim.epoch
    await store.append(job, epoch, 1, lines(1, 2))
    match end:
        case "lost":
            await reaped(store, job)
        case "released" | "drained":
            await store.release(job, epoch, reason="x", counted=end == "released", attempts=3)
        case "finished" | "deleted":
            await store.finish(job, epoch, State.SUCCEEDED)
    if end == "deleted":
        await store.delete(job)
        await refused(store, job, epoch)
        return
    await refused(store, job, epoch)
    if end != "finished":
        following = await claimed(store, "bert")
        assert following.epoch > epoch
        await refused(store, job, epoch)
        assert await store.append(job, following.epoch, 3, lines(3, 3)) == 3
    assert numbers(await store.read(job)) == [1, 2, 3][: (await store.get(job)).seq]


async def refused(store: JobStore, job: str, epoch: int) -> None:
    """Every write of an attempt is refused, and changes nothing."""
    before = None if await gone(store, job) else (await store.get(job), await store.events(job))
    assert await store.heartbeat(job, epoch, 30.0) == "lost"
    for records in (lines(3, 3), lines(1, 1), []):
        with pytest.raises(Fenced, match=job):
            await store.append(job, epoch, 3, records, checkpoint="stale", rounds=99)
    for state in (State.SUCCEEDED, State.FAILED, State.CANCELED):
        with pytest.raises(Fenced, match=job):
            await store.finish(job, epoch, state, reason="stale", result={"stale": 1})
    for counted in (True, False):
        with pytest.raises(Fenced, match=job):
            await store.release(job, epoch, reason="stale", counted=counted, attempts=1)
    if before is not None:
        assert (await store.get(job), await store.events(job)) == before


async def test_a_lease_that_is_renewed_is_not_reaped(store: JobStore) -> None:
    claim = await running(store, lease=SHORT)
    assert await store.heartbeat(claim.job.id, claim.epoch, 30.0) == "ok"
    other = await running(store, lease=SHORT)
    await reaped(store, other.job.id)
    assert (await store.get(claim.job.id)).state is State.RUNNING


async def test_what_the_reaper_takes_back(store: JobStore) -> None:
    claim = await running(store, lease=SHORT)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 2), checkpoint="1:a")
    await reaped(store, claim.job.id)
    assert await store.reap(3) == []
    job = await store.get(claim.job.id)
    assert (job.state, job.attempt, job.checkpoint, job.seq) == (State.QUEUED, 1, "1:a", 2)
    assert (await claimed(store, "bert")).job.attempt == 2
    assert (await told(store, job.id))[-2:] == ["lost", "resumed"]
    lost = (await store.events(job.id))[-2].facts
    assert lost == {"attempt": 1, "epoch": claim.epoch, "worker": "anne", "seq": 2} | {
        "reason": NO_SIGN,
        "outcome": "lease lost",
    }


async def test_a_job_has_so_many_attempts(store: JobStore) -> None:
    job = (await submitted(store)).id
    for attempt in (1, 2):
        claim = await claimed(store)
        assert claim.job.attempt == attempt
        state = await store.release(job, claim.epoch, reason="died", counted=True, attempts=3)
        assert state is State.QUEUED
    await claimed(store, lease=SHORT)
    await reaped(store, job)
    over = await store.get(job)
    assert (over.state, over.reason, over.attempt) == (State.FAILED, NO_SIGN, 3)
    assert await store.claim("anne", KINDS, 1.0) is None
    assert (await told(store, job))[-2:] == ["lost", "failed"]
    assert over.dead


async def test_dead_are_those_whose_attempts_ran_out(store: JobStore) -> None:
    dead: list[str] = []
    for _ in range(3):
        claim = await running(store)
        await store.release(claim.job.id, claim.epoch, reason="died", counted=True, attempts=1)
        dead.insert(0, claim.job.id)
    failed = await running(store)
    await store.finish(failed.job.id, failed.epoch, State.FAILED, reason="no")
    assert not (await store.get(failed.job.id)).dead
    page = await store.list(dead=True, limit=2)
    assert [job.id for job in page.jobs] == dead[:2]
    following = await store.list(dead=True, limit=2, cursor=page.cursor)
    assert ([job.id for job in following.jobs], following.cursor) == (dead[2:], None)
    await store.delete(dead[1])
    assert [job.id for job in (await store.list(dead=True)).jobs] == [dead[0], dead[2]]


async def test_a_drain_costs_no_attempt(store: JobStore) -> None:
    job = (await submitted(store)).id
    later = (await submitted(store)).id
    for _ in range(4):
        claim = await claimed(store)
        assert (claim.job.id, claim.job.attempt) == (job, 1)
        state = await store.release(job, claim.epoch, reason="drain", counted=False, attempts=1)
        assert state is State.QUEUED
        assert (await store.get(job)).attempt == 0
    await claimed(store)
    assert (await claimed(store)).job.id == later


async def test_a_queued_job_is_canceled_at_once(store: JobStore) -> None:
    job = await submitted(store)
    assert (await store.cancel(job.id)).state is State.CANCELED
    assert (await store.get(job.id)).finished is not None
    assert await store.claim("anne", KINDS, 1.0) is None
    assert await told(store, job.id) == ["submitted", "canceled"]


async def test_a_running_job_is_asked_to_stop(store: JobStore) -> None:
    claim = await running(store)
    job, epoch = claim.job.id, claim.epoch
    for _ in range(2):  # asking twice is no error
        assert (await store.cancel(job)).state is State.CANCELING
    assert await store.heartbeat(job, epoch, 30.0) == "cancel"
    assert await store.append(job, epoch, 1, lines(1, 1)) == 1
    await store.finish(job, epoch, State.CANCELED)
    assert (await store.get(job)).state is State.CANCELED
    assert await told(store, job) == ["submitted", "claimed", "cancel-requested", "canceled"]


@pytest.mark.parametrize("lost", [True, False])
async def test_a_job_that_is_being_canceled_is_not_tried_again(store: JobStore, lost: bool) -> None:
    claim = await running(store, lease=SHORT)
    await store.cancel(claim.job.id)
    if lost:
        await reaped(store, claim.job.id)
    else:
        why = "died"
        state = await store.release(claim.job.id, claim.epoch, reason=why, counted=True, attempts=3)
        assert state is State.CANCELED
    assert (await store.get(claim.job.id)).state is State.CANCELED
    assert await store.claim("anne", KINDS, 1.0) is None


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED, State.CANCELED])
async def test_final_states_never_change(store: JobStore, state: State) -> None:
    claim = await running(store, lease=SHORT)
    await store.finish(claim.job.id, claim.epoch, state)
    with pytest.raises(Conflict, match=state):
        await store.cancel(claim.job.id)
    await asyncio.sleep(SHORT)
    assert await store.reap(1) == []
    assert (await store.get(claim.job.id)).state is state


async def test_workers(store: JobStore) -> None:
    assert await store.workers() == []
    await store.announce("anne", KINDS, 2, 30.0)
    await store.announce("bert", [], 1, SHORT)
    claim = await running(store)
    anne, bert = await store.workers()
    assert (anne["name"], anne["kinds"], anne["slots"]) == ("anne", sorted(KINDS), 2)
    assert (anne["jobs"], bert["jobs"]) == ([claim.job.id], [])
    assert bert["kinds"] == []
    assert anne["seen"] >= 0.0
    await asyncio.sleep(SHORT)
    assert [worker["name"] for worker in await store.workers()] == ["anne"]
    await store.announce("anne", KINDS, 2, 0.0)
    assert await store.workers() == []


async def test_a_queued_job_tells_what_it_waits_for(store: JobStore) -> None:
    job = await submitted(store, [*KINDS, "task:odd"])
    assert "no worker is there" in (await store.get(job.id)).reason
    await store.announce("anne", KINDS, 1, 30.0)
    assert "no worker has task:odd" in (await store.get(job.id)).reason
    assert "no worker has task:odd" in (await store.list()).jobs[0].reason
    await store.announce("bert", [*KINDS, "task:odd"], 1, 30.0)
    assert (await store.get(job.id)).reason == ""
