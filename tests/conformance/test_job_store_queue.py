"""Every job store keeps one contract: in which order jobs run, from when on, and how often."""

import time
from dataclasses import replace

import pytest

from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import Ids
from driftfold_workers.jobs.store import JobStore
from driftfold_workers.jobs.terms import HIGHEST, LOWEST, Terms
from tests.workers.jobs import KINDS, SPEC, claimed, reaped, submitted, told, until

pytestmark = pytest.mark.asyncio

FUTURE = 4e9  # Unix time: no test lasts so long


async def prior(store: JobStore, priority: int) -> str:
    return (await store.submit(SPEC, KINDS, terms=Terms(priority=priority))).id


async def order(store: JobStore, jobs: int) -> list[str]:
    """Claims that many jobs."""
    return [(await claimed(store)).job.id for _ in range(jobs)]


async def test_a_higher_priority_comes_first_and_then_the_older_job(store: JobStore) -> None:
    low, first, second, high = [await prior(store, p) for p in (LOWEST, 0, 0, HIGHEST)]
    above, below = await prior(store, 1), await prior(store, -1)
    assert await order(store, 6) == [high, above, first, second, below, low]


async def test_a_job_that_is_given_back_stands_at_the_head_of_its_priority(
    store: JobStore,
) -> None:
    first, second = await prior(store, 0), await prior(store, 0)
    claim = await claimed(store)
    third, urgent = await prior(store, 0), await prior(store, 5)
    assert claim.job.id == first
    await store.release(first, claim.epoch, reason="x", counted=True, attempts=3)
    assert await order(store, 4) == [urgent, first, second, third]


async def test_a_position_counts_those_that_run_before(store: JobStore) -> None:
    first, second = await prior(store, 0), await prior(store, 0)
    urgent = await prior(store, 1)
    later = (await store.submit(SPEC, KINDS, terms=Terms(not_before=FUTURE))).id
    found = [(await store.get(job)).position for job in (urgent, first, second, later)]
    assert found == [1, 2, 3, None]
    await claimed(store)
    found = [(await store.get(job)).position for job in (urgent, first, second)]
    assert found == [None, 1, 2]


async def test_a_job_behind_many_that_were_submitted_at_one_moment_is_found(
    store: JobStore,
) -> None:
    ids = Ids(clock=lambda: 1_800_000_000_000_000_000)
    for _ in range(120):
        await store.enqueue(Job(ids.next(), SPEC, ("task:odd",), State.QUEUED))
    fitting = Job(ids.next(), SPEC, KINDS, State.QUEUED)
    await store.enqueue(fitting)
    assert await order(store, 1) == [fitting.id]
    assert await store.claim("anne", KINDS, 1.0) is None


async def test_a_job_waits_for_its_time(store: JobStore) -> None:
    job = await store.submit(SPEC, KINDS, terms=Terms(not_before=FUTURE, priority=9))
    now = (await submitted(store)).id
    waiting = await store.get(job.id)
    assert (waiting.state, waiting.due) == (State.QUEUED, FUTURE)
    assert waiting.reason == "it may run from 2096-10-02 07:06:40 UTC on"
    assert await store.reap(3) == []
    assert await order(store, 1) == [now]
    assert await store.claim("anne", KINDS, 1.0) is None
    assert (await store.cancel(job.id)).state is State.CANCELED
    assert (await store.get(job.id)).due is None


async def test_a_job_whose_time_has_come_takes_its_place(store: JobStore) -> None:
    soon = Terms(not_before=time.time() + 0.2, priority=1)
    job = (await store.submit(SPEC, KINDS, terms=soon)).id
    past = (await store.submit(SPEC, KINDS, terms=Terms(not_before=time.time() - 5))).id

    async def due() -> bool:
        await store.reap(3)
        return (await store.get(job)).due is None

    await until(due)
    assert (await store.get(job)).position == 1
    assert await order(store, 2) == [job, past]
    assert await told(store, job) == ["submitted", "claimed"]


async def test_a_job_has_attempts_of_its_own(store: JobStore) -> None:
    job = (await store.submit(SPEC, KINDS, terms=Terms(attempts=2))).id
    for wanted in (State.QUEUED, State.FAILED):
        claim = await claimed(store)
        state = await store.release(job, claim.epoch, reason="died", counted=True, attempts=1)
        assert state is wanted
    over = await store.get(job)
    assert (over.dead, over.reason, over.attempt) == (True, "died", 2)
    lost = (await store.submit(SPEC, KINDS, terms=Terms(attempts=1))).id
    await claimed(store, lease=0.05)
    await reaped(store, lost, attempts=9)
    assert (await store.get(lost)).dead


async def test_a_failure_that_would_come_again_is_not_one_of_attempts(store: JobStore) -> None:
    job = (await store.submit(SPEC, KINDS, terms=Terms(attempts=1))).id
    claim = await claimed(store)
    await store.finish(job, claim.epoch, State.FAILED, reason="SpecError")
    assert not (await store.get(job)).dead


async def test_a_job_that_waits_for_others_is_held(store: JobStore) -> None:
    first = (await submitted(store)).id
    job = await store.submit(SPEC, KINDS, terms=Terms(after=(first,), priority=9))
    waiting = await store.get(job.id)
    assert (waiting.state, waiting.reason) == (State.QUEUED, f"waits for job {first}")
    assert (waiting.held, waiting.position) == (True, None)
    assert await order(store, 1) == [first]
    assert await store.claim("anne", KINDS, 1.0) is None
    assert (await store.cancel(job.id)).state is State.CANCELED


async def test_a_job_that_had_begun_is_held_no_more(store: JobStore) -> None:
    first = (await submitted(store)).id
    terms = Terms(after=(first,))
    known = Job(replaced(first), SPEC, KINDS, State.RUNNING, terms=terms, created=1.8e9)
    known = replace(known, started=1.8e9, attempt=1, epoch=3, worker="anne")
    await store.enqueue(known, events=3)
    assert await order(store, 2) == [first, known.id]


def replaced(job: str) -> str:
    """An id right after another one."""
    return job[:-12] + "ffffffffffff"
