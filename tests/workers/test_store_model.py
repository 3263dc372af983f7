"""Any sequence of calls does to the store what it does to a model of a few lines."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from driftfold_workers.jobs.job import Claim, State
from driftfold_workers.jobs.store import Conflict, Fenced, StoreError, UnknownJob
from driftfold_workers.jobs.terms import Terms
from driftfold_workers.queue import queue
from driftfold_workers.redis.embedded import EmbeddedServer
from tests.workers import servers
from tests.workers.jobs import SPEC, lines, numbers, reaped

T = TypeVar("T")
ATTEMPTS = 2
AT_WORK = (State.RUNNING, State.CANCELING)
KINDS = st.lists(st.sampled_from("ab"), unique=True)
INDEX = st.integers(0, 1000)  # of a job or attempt, modulo how many there are
FUTURE = 4e9  # Unix time
TERMS = st.builds(
    Terms,
    priority=st.sampled_from([0, 0, -1, 3]),
    not_before=st.sampled_from([None, None, None, 1.0, FUTURE]),
    attempts=st.sampled_from([None, 1, 3]),
    after=st.sampled_from([(), (), (), ("another",)]),
)

AGAIN = st.tuples(
    st.integers(-1, 3), st.integers(1, 3), st.booleans(), st.sampled_from(["", "other", "third"])
)
"""How far back somebody begins (-1: too far ahead), how much he tells, with a snapshot?, a note."""


@dataclass
class Told:
    """What the model knows of a job."""

    needs: Sequence[str]
    terms: Terms
    state: State = State.QUEUED
    epoch: int = 0
    attempt: int = 0
    seq: int = 0
    begun: int = 0  # records there were when the present attempt began
    notes: dict[int, str] = field(default_factory=dict)  # of each record
    rounds: int = 0
    checkpoint: str | None = None
    pausing: bool = False
    dead: bool = False
    gone: bool = False
    stalled: int = 0  # attempts in a row that brought it no further
    resting: bool = False  # between two such attempts
    diverged: int | None = None

    @property
    def put_off(self) -> bool:
        """Whether a time is known before which it may not run."""
        early = self.terms.not_before == FUTURE and not self.terms.after
        return self.state is State.QUEUED and (self.resting or early)

    @property
    def ready(self) -> bool:
        waits = self.terms.not_before == FUTURE or self.terms.after or self.resting
        return self.state is State.QUEUED and not self.gone and not waits


class StoreModel(RuleBasedStateMachine):
    """Users and workers, some of them stale, on one store."""

    server: EmbeddedServer

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.store = self.do(self.stack.enter_async_context(servers.store_on(self.server)))
        self.jobs: dict[str, Told] = {}  # in the order of their submission
        self.claims: list[tuple[str, int]] = []  # every attempt there ever was

    def teardown(self) -> None:
        self.do(self.stack.aclose())
        self.runner.close()

    def do(self, call: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(call)

    def attempt(self, index: int) -> tuple[str, int, Told, bool]:
        live = [
            (job, epoch)
            for job, epoch in self.claims
            if self.jobs[job].epoch == epoch and self.jobs[job].state in AT_WORK
        ]
        among = live if live and index % 2 else self.claims  # many are stale
        job, epoch = among[index // 2 % len(among)]
        told = self.jobs[job]
        at_work = told.state in AT_WORK and not told.gone
        return job, epoch, told, at_work and told.epoch == epoch

    def queue(self) -> list[str]:
        """Jobs that may run, in their order."""
        ready = [job for job, told in self.jobs.items() if told.ready]
        return sorted(ready, key=lambda job: -self.jobs[job].terms.priority)

    def given_back(self, told: Told, counted: bool, back_off: bool = False) -> None:
        if back_off:
            told.stalled = 0 if told.seq > told.begun else told.stalled + 1
        if told.state is State.CANCELING:
            told.state = State.CANCELED
        elif counted and told.attempt >= (told.terms.attempts or ATTEMPTS):
            told.state, told.dead = State.FAILED, True
        else:
            told.state = State.PAUSED if told.pausing else State.QUEUED
        told.pausing = False
        told.resting = back_off and told.stalled > 1 and told.state is State.QUEUED
        told.attempt -= not counted

    @rule(needs=KINDS, terms=TERMS)
    def submit(self, needs: list[str], terms: Terms) -> None:
        job = self.do(self.store.submit(SPEC, needs, terms=terms))
        self.jobs[job.id] = Told(needs, terms)

    @precondition(lambda self: any(told.terms.after for told in self.jobs.values()))
    @rule(index=INDEX)
    def let_go(self, index: int) -> None:
        held = [job for job, told in self.jobs.items() if told.terms.after]
        job = held[index % len(held)]
        told = self.jobs[job]
        assert self.do(self.store.holding.let_go(job)) == (
            told.state is State.QUEUED and not told.gone
        )
        if told.state is State.QUEUED:
            told.terms = replace(told.terms, after=())

    @precondition(lambda self: any(told.state is State.QUEUED for told in self.jobs.values()))
    @rule(kinds=KINDS)
    def claim(self, kinds: list[str]) -> None:
        claim: Claim | None = self.do(self.store.claim("w", kinds, 1000.0))
        fitting = [job for job in self.queue() if set(self.jobs[job].needs) <= set(kinds)]
        if claim is None:
            assert not fitting
            return
        assert claim.job.id == fitting[0]
        told = self.jobs[claim.job.id]
        assert claim.epoch > told.epoch
        told.state, told.epoch, told.attempt = State.RUNNING, claim.epoch, told.attempt + 1
        told.begun = told.seq
        self.claims.append((claim.job.id, claim.epoch))

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def heartbeat(self, index: int) -> None:
        job, epoch, told, live = self.attempt(index)
        going = "pause" if told.pausing else "ok"
        wanted = ("cancel" if told.state is State.CANCELING else going) if live else "lost"
        assert self.do(self.store.heartbeat(job, epoch, 1000.0)) == wanted

    @precondition(lambda self: self.claims)
    @rule(
        index=INDEX,
        shift=st.integers(-3, 1),
        count=st.integers(0, 4),
        name=st.booleans(),
        note=st.sampled_from(["", "", "", "other"]),
    )
    def append(self, index: int, shift: int, count: int, name: bool, note: str) -> None:
        self.tell(self.attempt(index)[:2], shift, count, name, note)

    def tell(self, attempt: tuple[str, int], shift: int, count: int, name: bool, note: str) -> None:
        (job, epoch), told = attempt, self.jobs[attempt[0]]
        live = told.state in AT_WORK and not told.gone and told.epoch == epoch
        first = max(told.seq + 1 + shift, 1)
        last = first + count - 1
        point = f"{epoch}:{last}" if name else None
        call = self.store.append(
            job, epoch, first, lines(first, last, note), checkpoint=point, rounds=last
        )
        if not live:
            with pytest.raises(Fenced):
                self.do(call)
        elif first > told.seq + 1:
            with pytest.raises(StoreError, match="cannot follow"):
                self.do(call)
        else:
            again = range(first, min(told.seq, last) + 1)
            different = (seq for seq in again if told.notes[seq] != note)
            told.diverged = told.diverged or next(different, None)
            told.notes.update(dict.fromkeys(range(told.seq + 1, last + 1), note))
            told.seq = max(told.seq, last)
            told.rounds = max(told.rounds, last)
            told.checkpoint = point or told.checkpoint
            assert self.do(call) == told.seq

    @precondition(lambda self: any(told.ready for told in self.jobs.values()))
    @rule(count=st.integers(1, 3), again=st.lists(AGAIN, max_size=3))
    def work(self, count: int, again: list[tuple[int, int, bool, str]]) -> None:
        """Somebody who can do anything claims, tells, and tells parts once more."""
        self.claim(["a", "b"])
        attempt = self.claims[-1]
        self.tell(attempt, 0, count, True, "")
        for back, many, name, note in again:
            self.tell(attempt, -back, many, name, note)

    @precondition(lambda self: self.claims)
    @rule(index=INDEX, state=st.sampled_from([State.SUCCEEDED, State.FAILED, State.CANCELED]))
    def finish(self, index: int, state: State) -> None:
        job, epoch, told, live = self.attempt(index)
        if live:
            self.do(self.store.finish(job, epoch, state))
            told.state, told.pausing = state, False
        else:
            with pytest.raises(Fenced):
                self.do(self.store.finish(job, epoch, state))

    @precondition(lambda self: self.claims)
    @rule(index=INDEX, counted=st.booleans())
    def release(self, index: int, counted: bool) -> None:
        job, epoch, told, live = self.attempt(index)
        call = self.store.release(
            job,
            epoch,
            reason="x",
            counted=counted,
            attempts=ATTEMPTS,
            outcome="child died" if counted else "drained",
        )
        if live:
            self.given_back(told, counted)
            assert self.do(call) is told.state
        else:
            with pytest.raises(Fenced):
                self.do(call)

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def lose(self, index: int) -> None:
        job, epoch, told, live = self.attempt(index)
        if live:
            self.do(self.store.heartbeat(job, epoch, 0.001))
            self.do(reaped(self.store, job, ATTEMPTS))
            self.given_back(told, counted=True, back_off=True)
        assert self.do(self.store.reap(ATTEMPTS)) == []

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def cancel(self, index: int) -> None:
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        if told.gone:
            with pytest.raises(UnknownJob):
                self.do(self.store.cancel(job))
        elif told.state.final:
            with pytest.raises(Conflict):
                self.do(self.store.cancel(job))
        else:
            waits = told.state in (State.QUEUED, State.PAUSED)
            told.state = State.CANCELED if waits else State.CANCELING
            told.pausing = told.resting = False
            assert self.do(self.store.cancel(job)).state is told.state

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def pause(self, index: int) -> None:
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        call = self.store.pause(job)
        if told.gone or told.state is State.CANCELING or told.state.final:
            with pytest.raises(UnknownJob if told.gone else Conflict):
                self.do(call)
            return
        if told.state is State.RUNNING:
            told.pausing = True
        else:
            told.state, told.resting = State.PAUSED, False
        assert self.do(call).state is told.state

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def resume(self, index: int) -> None:
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        call = self.store.resume(job)
        if told.gone or not (told.state is State.PAUSED or told.pausing):
            with pytest.raises(UnknownJob if told.gone else Conflict):
                self.do(call)
            return
        if told.state is State.PAUSED:
            told.state = State.QUEUED
        told.pausing = False
        assert self.do(call).state is told.state

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def delete(self, index: int) -> None:
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        if told.gone or not told.state.final:
            with pytest.raises(UnknownJob if told.gone else Conflict):
                self.do(self.store.delete(job))
        else:
            self.do(self.store.delete(job))
            told.gone = True

    @invariant()
    def agrees(self) -> None:
        there = {job: told for job, told in self.jobs.items() if not told.gone}
        listed = self.do(self.store.list(limit=1000)).jobs
        assert [job.id for job in listed] == list(there)[::-1]
        for job in listed:
            told = there[job.id]
            assert (job.state, job.epoch, job.attempt) == (told.state, told.epoch, told.attempt)
            assert (job.seq, job.rounds) == (told.seq, told.rounds)
            assert (job.checkpoint, job.diverged) == (told.checkpoint, told.diverged)
            assert (job.finished is not None) == job.state.final
            assert (job.due is not None) == told.put_off
            assert numbers(self.do(self.store.read(job.id))) == list(range(1, told.seq + 1))
        dead = [job for job in listed if there[job.id].dead]
        assert [job.id for job in listed if job.dead] == [job.id for job in dead]
        assert [job.id for job in self.do(self.store.list(dead=True)).jobs] == [
            job.id for job in dead
        ]
        for state in State:
            mine = [job.id for job in listed if job.state is state]
            assert [job.id for job in self.do(self.store.list(state=state)).jobs] == mine
        for job in listed:
            place = self.do(self.store.get(job.id)).position
            queue = self.queue()
            assert place == (queue.index(job.id) + 1 if job.id in queue else None)


@pytest.mark.parametrize("examples", [6, pytest.param(500, marks=pytest.mark.slow)])
def test_any_sequence_of_calls(examples: int) -> None:
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "FIRST_PAUSE", queue.LONGEST_PAUSE)  # no rest is over by itself
        StoreModel.server = stack.enter_context(servers.running())
        run_state_machine_as_test(
            StoreModel,
            settings=settings(
                max_examples=examples,
                stateful_step_count=30,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
