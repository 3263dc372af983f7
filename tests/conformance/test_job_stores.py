"""Every job store keeps one contract, on every server program of this machine."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
import pytest_asyncio

from driftfold_workers.embedded import EmbeddedServer
from driftfold_workers.job import State
from driftfold_workers.server_binary import server_programs
from driftfold_workers.store import Conflict, Fenced, JobStore, StoreError, UnknownJob
from tests.workers import servers
from tests.workers.jobs import (
    KINDS,
    SPEC,
    claimed,
    lines,
    numbers,
    reaped,
    running,
    submitted,
    told,
)

SHORT = 0.3  # seconds of a lease that is to end

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module", params=server_programs(), ids=lambda path: path.parent.name)
def server(request: pytest.FixtureRequest) -> Iterator[EmbeddedServer]:
    program: Path = request.param
    with servers.running(program) as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[JobStore]:
    async with servers.store_on(server) as store:
        yield store


async def test_what_is_submitted_is_kept(store: JobStore) -> None:
    spec = MappingProxyType(SPEC | {"nested": MappingProxyType({"a": 1})})
    job, new = await store.submit(spec, ["b:x", "a:y", "b:x"], name="häß\n", horizon_rounds=40)
    assert new
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


async def gone(store: JobStore, job: str) -> bool:
    try:
        await store.get(job)
    except UnknownJob:
        return True
    return False


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
        "reason": "lost"
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
    assert (over.state, over.reason, over.attempt) == (State.FAILED, "lost", 3)
    assert await store.claim("anne", KINDS, 1.0) is None
    assert (await told(store, job))[-2:] == ["lost", "failed"]


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


async def test_idempotency(store: JobStore) -> None:
    first, new = await store.submit(SPEC, KINDS, idempotency_key="k")
    again, new_again = await store.submit(dict(reversed(SPEC.items())), KINDS, idempotency_key="k")
    assert (new, new_again) == (True, False)
    assert again.id == first.id
    with pytest.raises(Conflict, match=first.id):
        await store.submit(SPEC | {"seed": 8}, KINDS, idempotency_key="k")
    other, new_other = await store.submit(SPEC, KINDS, idempotency_key="another k")
    assert new_other
    assert len((await store.list()).jobs) == 2
    # The key goes with the job that it made.
    await store.cancel(first.id)
    assert (await store.submit(SPEC, KINDS, idempotency_key="k"))[0].state is State.CANCELED
    await store.delete(first.id)
    made, is_new = await store.submit(SPEC, KINDS, idempotency_key="k")
    assert is_new
    assert made.id not in (first.id, other.id)


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
