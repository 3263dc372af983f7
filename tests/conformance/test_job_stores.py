"""Every job store keeps one contract: what users submit, see, read and delete."""

import math
from dataclasses import replace
from types import MappingProxyType

import pytest

from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import new_id
from driftfold_workers.jobs.store import Conflict, Fenced, JobStore, StoreError, Trimmed, UnknownJob
from driftfold_workers.jobs.terms import Limits, Terms
from tests.workers.jobs import KINDS, SPEC, claimed, gone, lines, numbers, running, submitted, told

pytestmark = pytest.mark.asyncio


async def test_what_is_submitted_is_kept(store: JobStore) -> None:
    spec = MappingProxyType(SPEC | {"nested": MappingProxyType({"a": 1})})
    job = await store.submit(spec, ["b:x", "a:y", "b:x"], name="häß\n", horizon_rounds=40)
    assert job.spec == SPEC | {"nested": {"a": 1}}
    assert job.needs == ("a:y", "b:x")
    assert (job.state, job.name, job.horizon_rounds) == (State.QUEUED, "häß\n", 40)
    assert (job.attempt, job.epoch, job.seq, job.rounds) == (0, 0, 0, 0)
    assert job.created > 1.7e9
    assert (job.started, job.finished, job.checkpoint, job.result) == (None,) * 4
    again = await store.get(job.id)
    assert again.spec == job.spec
    assert (again.needs, again.created, again.name) == (job.needs, job.created, job.name)
    assert await told(store, job.id) == ["submitted"]
    assert await store.read(job.id) == []


async def test_terms_are_kept(store: JobStore) -> None:
    terms = Terms(-3, 1.9e9, 2, Limits(60.0, 0.5, 2**33), (new_id(), new_id()))
    assert (await store.submit(SPEC, KINDS, terms=terms)).terms == terms
    known = Job(new_id(), SPEC, KINDS, State.QUEUED, terms=terms, group=new_id())
    known = replace(known, origin={"job": new_id(), "how": "clone"}, diverged=4)
    assert await store.enqueue(known)
    there = await store.get(known.id)
    assert (there.terms, there.group) == (terms, known.group)
    assert (there.origin, there.diverged, there.dead) == (known.origin, 4, False)


async def test_unknown_jobs(store: JobStore) -> None:
    for ask in (store.get, store.cancel, store.delete, store.read, store.events):
        with pytest.raises(UnknownJob, match="nobody"):
            await ask("nobody")
    assert await store.heartbeat("nobody", 1, 1.0) == "lost"
    with pytest.raises(Fenced, match="nobody"):
        await store.append("nobody", 1, 1, lines(1, 1))


async def test_the_life_of_a_job(store: JobStore) -> None:
    claim = await running(store)
    job, epoch = claim.job, claim.epoch
    assert (job.state, job.worker, job.attempt, job.epoch) == (State.RUNNING, "anne", 1, epoch)
    assert job.spec == SPEC
    assert job.started is not None
    assert job.started >= job.created
    assert await store.append(job.id, epoch, 1, lines(1, 3), rounds=3) == 3
    assert await store.append(job.id, epoch, 4, lines(4, 4), rounds=4, checkpoint="1:a") == 4
    assert await store.heartbeat(job.id, epoch, 30.0) == "ok"
    await store.finish(job.id, epoch, State.SUCCEEDED, result={"gap": math.inf, "rows": [1, None]})
    over = await store.get(job.id)
    assert (over.state, over.seq, over.rounds, over.checkpoint) == (State.SUCCEEDED, 4, 4, "1:a")
    assert over.result == {"gap": math.inf, "rows": [1, None]}
    assert over.finished is not None
    assert over.finished >= job.started
    assert await store.read(job.id) == lines(1, 4)
    events = await store.events(job.id)
    assert [event.number for event in events] == [1, 2, 3, 4]
    assert [event.kind for event in events] == ["submitted", "claimed", "checkpoint", "succeeded"]
    assert events[1].facts == {"attempt": 1, "epoch": epoch, "worker": "anne", "seq": 0}
    assert events[2].facts == {"name": "1:a", "epoch": epoch, "seq": 4}
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert await store.events(job.id, after=1, limit=2) == events[1:3]


async def test_failure(store: JobStore) -> None:
    claim = await running(store)
    await store.finish(claim.job.id, claim.epoch, State.FAILED, reason="SpecError: no")
    job = await store.get(claim.job.id)
    assert (job.state, job.reason, job.result) == (State.FAILED, "SpecError: no", None)


async def test_a_job_ends_in_a_final_state(store: JobStore) -> None:
    claim = await running(store)
    for state in (State.QUEUED, State.RUNNING, State.CANCELING):
        with pytest.raises(StoreError, match=state):
            await store.finish(claim.job.id, claim.epoch, state)


async def test_only_final_jobs_are_deleted(store: JobStore) -> None:
    job = (await submitted(store)).id
    with pytest.raises(Conflict, match="queued"):
        await store.delete(job)
    claim = await claimed(store)
    with pytest.raises(Conflict, match="running"):
        await store.delete(job)
    await store.cancel(job)
    with pytest.raises(Conflict, match="canceling"):
        await store.delete(job)
    await store.finish(job, claim.epoch, State.CANCELED)
    await store.delete(job)
    assert await gone(store, job)
    assert (await store.list()).jobs == []


async def test_records_that_are_there_are_dropped_and_gaps_refused(store: JobStore) -> None:
    claim = await running(store)
    job, epoch = claim.job.id, claim.epoch
    assert await store.append(job, epoch, 1, lines(1, 3, "first")) == 3
    assert await store.append(job, epoch, 2, lines(2, 5, "again")) == 5
    assert await store.append(job, epoch, 1, lines(1, 2, "again")) == 5
    assert await store.append(job, epoch, 6, []) == 5
    with pytest.raises(StoreError, match=r"record 7 .* record 5 .* from 6 on"):
        await store.append(job, epoch, 7, lines(7, 7), checkpoint="1:gap", rounds=7)
    with pytest.raises(StoreError, match="from 1 on"):
        await store.append(job, epoch, 0, lines(0, 1))
    assert await store.read(job) == lines(1, 3, "first") + lines(4, 5, "again")
    assert (await store.get(job)).checkpoint is None
    assert (await store.get(job)).rounds == 0


async def test_a_checkpoint_never_stands_after_the_log(store: JobStore) -> None:
    # Resuming from a snapshot that is newer than the log would leave out records for ever.
    claim = await running(store)
    job, epoch = claim.job.id, claim.epoch
    await store.append(job, epoch, 1, lines(1, 3))
    with pytest.raises(StoreError, match="record 5 cannot follow record 3"):
        await store.append(job, epoch, 5, [], checkpoint="1:new")
    assert await store.append(job, epoch, 4, lines(4, 4), checkpoint="1:good") == 4
    await store.release(job, epoch, reason="x", counted=True, attempts=3)
    following = await claimed(store, "bert")
    assert (following.job.checkpoint, following.job.seq) == ("1:good", 4)
    # What the log holds already may be vouched for by a snapshot that stands before its end.
    assert await store.append(job, following.epoch, 3, [], checkpoint="2:early") == 4
    assert (await store.get(job)).checkpoint == "2:early"


async def test_progress_never_falls_back(store: JobStore) -> None:
    claim = await running(store)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 3), rounds=3)
    await store.append(claim.job.id, claim.epoch, 2, lines(2, 2), rounds=2)
    assert (await store.get(claim.job.id)).rounds == 3


async def test_reading_in_parts(store: JobStore) -> None:
    claim = await running(store)
    await store.append(claim.job.id, claim.epoch, 1, lines(1, 10))
    assert numbers(await store.read(claim.job.id, after=0, limit=4)) == [1, 2, 3, 4]
    assert numbers(await store.read(claim.job.id, after=4, limit=4)) == [5, 6, 7, 8]
    assert numbers(await store.read(claim.job.id, after=8, limit=4)) == [9, 10]
    assert await store.read(claim.job.id, after=10) == []
    assert await store.read(claim.job.id, after=99) == []
    for after, limit in ((0, 0), (-1, 5)):
        with pytest.raises(StoreError, match="ask for one or more"):
            await store.read(claim.job.id, after=after, limit=limit)


async def test_a_job_that_was_accepted_elsewhere_keeps_its_id_and_is_queued_once(
    store: JobStore,
) -> None:
    earlier, later = (Job(new_id(), SPEC, KINDS, State.QUEUED, created=1.8e9) for _ in range(2))
    assert await store.enqueue(later)
    assert await store.enqueue(earlier)
    assert not await store.enqueue(earlier)
    assert [job.id for job in (await store.list()).jobs] == [later.id, earlier.id]
    claim = await claimed(store)
    assert (claim.job.id, claim.job.created, claim.epoch) == (earlier.id, 1.8e9, 1)
    assert not await store.enqueue(earlier)
    await store.finish(earlier.id, claim.epoch, State.FAILED)
    assert not await store.enqueue(earlier)
    assert (await store.get(earlier.id)).state is State.FAILED


async def test_a_job_goes_on_from_what_is_recorded_of_it(store: JobStore) -> None:
    known = Job(new_id(), SPEC, KINDS, State.RUNNING, "", "n", 1.8e9, 1.8e9 + 1.0, None, 2, 7)
    known = replace(known, worker="anne", seq=4, rounds=3, checkpoint="7:a")
    assert await store.enqueue(known, events=5)
    there = await store.get(known.id)
    assert (there.state, there.seq, there.rounds, there.checkpoint) == ("queued", 4, 3, "7:a")
    (event,) = await store.events(known.id, after=5)
    assert (event.number, event.kind, event.facts["outcome"]) == (6, "lost", "store lost")
    claim = await claimed(store)
    assert (claim.epoch, claim.job.attempt, claim.job.started) == (8, 3, 1.8e9 + 1.0)
    with pytest.raises(Trimmed):
        await store.read(known.id)
    assert await store.append(known.id, claim.epoch, 3, lines(3, 6)) == 6
    assert numbers(await store.read(known.id, after=4)) == [5, 6]


async def test_lists(store: JobStore) -> None:
    assert (await store.list()).jobs == []
    jobs = [(await submitted(store, name=str(k))).id for k in range(7)]
    newest = jobs[::-1]
    assert [job.id for job in (await store.list()).jobs] == newest
    first = await store.list(limit=3)
    assert [job.id for job in first.jobs] == newest[:3]
    # What is submitted or deleted meanwhile moves nothing from page to page.
    await submitted(store)
    await store.cancel(jobs[4])
    await store.delete(jobs[4])
    second = await store.list(limit=3, cursor=first.cursor)
    third = await store.list(limit=3, cursor=second.cursor)
    assert [job.id for job in (*second.jobs, *third.jobs)] == newest[3:]
    assert third.cursor is None
    with pytest.raises(StoreError, match="cursor 'here'"):
        await store.list(cursor="here")


async def test_lists_by_state(store: JobStore) -> None:
    queued, running_, over = [await submitted(store) for _ in range(3)][::-1]
    ended, at_work = await claimed(store), await claimed(store)
    assert (ended.job.id, at_work.job.id) == (over.id, running_.id)
    await store.finish(ended.job.id, ended.epoch, State.SUCCEEDED)
    for state, wanted in [
        (State.QUEUED, [queued.id]),
        (State.RUNNING, [running_.id]),
        (State.SUCCEEDED, [over.id]),
        (State.CANCELED, []),
    ]:
        assert [job.id for job in (await store.list(state=state)).jobs] == wanted
    assert (await store.list(state=State.QUEUED, limit=1)).cursor is None
