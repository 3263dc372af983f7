"""Whatever is called in whatever order: all that Redis has agrees, and no mutant of a script does.

The model in `test_store_model` is what users and workers see. Here the keys themselves are looked
at, and scripts that nobody calls directly have their turns.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import Fenced
from driftfold_workers.queue import queue
from driftfold_workers.queue import transition as module
from driftfold_workers.queue.queue import LONGEST_PAUSE
from driftfold_workers.queue.transition import transition
from driftfold_workers.redis.job_hash import to_event
from driftfold_workers.redis.link import to_ms
from driftfold_workers.redis.script import Script, read
from tests.faults.chaos.lifecycle import FINAL, violations
from tests.workers import servers
from tests.workers.mutants import MUTANTS
from tests.workers.test_store_model import AT_WORK, ATTEMPTS, FUTURE, INDEX, StoreModel, Told


class InsideModel(StoreModel):
    """The same users and workers, the recorder of an archive, and a look inside after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.recorded: dict[str, tuple[int, int]] = {}  # records and events, by job
        self.archived: set[str] = set()

    def ask(self, *words: Any) -> Any:
        async def send(redis: Any) -> Any:
            return await redis.execute_command(*words)

        return self.do(self.store._link.call(send))

    def members(self, key: str) -> set[str]:
        return {name.decode() for name in self.ask("ZRANGE", key, 0, -1)}

    def transition(self, script: str, job: str, *args: Any) -> Any:
        return self.do(transition(self.store._link, script, job, *args))

    @precondition(lambda self: self.claims)
    @rule(index=INDEX, stalled=st.integers(0, 3), counted=st.booleans())
    def release_with_pause(self, index: int, stalled: int, counted: bool) -> None:
        """It waits, if this attempt and one before it have brought it no further."""
        job, epoch, told, live = self.attempt(index)
        call = partial(self.store.release, reason="x", attempts=ATTEMPTS, back_off=True)
        outcome = "child died" if counted else "drained"
        if not live:
            with pytest.raises(Fenced):
                self.do(call(job, epoch, counted=counted, outcome=outcome))
            return
        self.ask("HSET", self.store.keys.job(job), "stalled", stalled)  # as many have been
        told.stalled = stalled
        self.given_back(told, counted, back_off=True)
        assert self.do(call(job, epoch, counted=counted, outcome=outcome)) is told.state
        events = self.do(self.store.events(job))
        last = next(event for event in reversed(events) if event.kind == "released")
        if told.resting:
            due = self.do(self.store.get(job)).due
            assert due is not None
            assert last.time < due <= last.time + LONGEST_PAUSE + 1
        assert ("retry" in last.facts) is told.resting

    @precondition(lambda self: any(told.resting for told in self.jobs.values()))
    @rule(index=INDEX)
    def rest_is_over(self, index: int) -> None:
        """Then it may run, and is to be had no sooner."""
        resting = [job for job, told in self.jobs.items() if told.resting]
        job = resting[index % len(resting)]
        assert self.transition("promote", job, to_ms(LONGEST_PAUSE)) == 0
        self.agrees_inside()
        assert self.transition("promote", job, 0) == 1  # as if it had been long enough
        self.jobs[job].resting = False
        assert self.transition("promote", job, 0) == 0

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def reap_early(self, index: int) -> None:
        """Whose lease is not over keeps its job."""
        job, *_ = self.attempt(index)
        args = ("", "no sign", "lease lost", 1, ATTEMPTS, 0, 0, 10**9)
        assert self.transition("release", job, *args) == b""

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def claim_late(self, index: int) -> None:
        """Who comes second, or for what cannot run, gets nothing."""
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        if not told.ready:
            assert self.transition("claim", job, "w", 10**6) == []

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def change_ones_mind(self, index: int) -> None:
        """A running job that is to be paused is not to be any more."""
        job, _, told, live = self.attempt(index)
        if live and told.state is State.RUNNING:
            number = list(self.jobs).index(job)
            self.pause(number)
            self.agrees_inside()
            self.resume(number)

    @precondition(lambda self: self.claims)
    @rule(index=INDEX, lease=st.sampled_from([2000.0, 3000.0]))
    def renew(self, index: int, lease: float) -> None:
        """The lease ends so long after the renewal."""
        job, epoch, _, live = self.attempt(index)
        self.do(self.store.heartbeat(job, epoch, lease))
        if live:
            due = float(self.ask("ZSCORE", self.store.keys.lease, job)) / 1000
            seconds, micros = self.ask("TIME")
            assert abs(due - lease - int(seconds) - int(micros) / 1e6) < 60

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def promote_early(self, index: int) -> None:
        """What need not wait, or has to wait on, stays where it is."""
        job = list(self.jobs)[index % len(self.jobs)]
        assert self.transition("promote", job, to_ms(LONGEST_PAUSE)) == 0

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX)
    def queue_again(self, index: int) -> None:
        """What is there is not queued twice."""
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        if not told.gone:
            assert self.do(self.store.enqueue(self.do(self.store.get(job)))) is False

    @precondition(lambda self: self.jobs)
    @rule(index=INDEX, back=st.integers(0, 2), early=st.integers(0, 1))
    def record(self, index: int, back: int, early: int) -> None:
        """The archive has a job up to some record and event."""
        job, told = list(self.jobs.items())[index % len(self.jobs)]
        events = 0 if told.gone else len(self.do(self.store.events(job)))
        seq, number = max(0, told.seq - back), max(0, events - early)
        known = self.recorded.get(job, (0, 0))  # of which an archive loses nothing
        seq, number = self.recorded[job] = max(known[0], seq), max(known[1], number)
        done = self.do(self.store.window.recorded(job, seq, number))
        assert done is (told.gone or (seq == told.seq and number == events))
        if done and not told.gone:
            self.recorded[job] = told.seq, events
            if told.state.final:
                self.archived.add(job)

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def tell_more(self, index: int) -> None:
        """What is told after all was recorded is to be recorded, too."""
        job, epoch, _, live = self.attempt(index)
        if live:
            self.record(list(self.jobs).index(job), 0, 0)
            self.tell((job, epoch), 0, 1, False, "")

    @invariant()
    def agrees_inside(self) -> None:
        keys = self.store.keys
        there = {job: told for job, told in self.jobs.items() if not told.gone}
        found = self.look(list(self.jobs))
        ready, delayed, later, held, needs, lease, archived, uncleared, unrecorded, *logs = found
        self.agrees_in_lists(there)
        queued = {job for job in there if there[job].state is State.QUEUED}
        assert sorted([*ready, *delayed, *later, *held]) == sorted(queued)
        assert held == {job for job in queued if there[job].terms.after}
        future = {job for job in queued if there[job].terms.not_before == FUTURE}
        resting = {job for job in queued if there[job].resting}
        assert (later, delayed) == (future - held - resting, resting)
        assert needs == ready
        assert lease == {job for job in there if there[job].state in AT_WORK}
        assert archived == {job for job in self.archived if job in there}
        assert uncleared == {job for job in there if there[job].state.final and there[job].epoch}
        for job, raw in zip(self.jobs, logs, strict=True):
            if job not in there:
                assert raw == []
                assert self.ask("EXISTS", keys.job(job), keys.records(job)) == 0
                assert job not in unrecorded
                continue
            told, events = there[job], [to_event(number, fields) for number, fields in raw]
            known = self.recorded.get(job, (0, 0))
            assert (job in unrecorded) is (known != (told.seq, len(events)))
            saved = [event.facts["name"] for event in events if event.kind == "checkpoint"]
            assert all(one != other for one, other in pairwise(saved))
            kinds = [event.kind for event in events]
            assert "cancel-requested" in kinds or told.state is not State.CANCELING
            wrong = violations([vars(event) for event in events])
            assert not [text for text in wrong if "it ends with" not in text]
            assert sum(event.kind in FINAL for event in events) == told.state.final
            assert (events[-1].kind in FINAL) is told.state.final

    def agrees_in_lists(self, there: Mapping[str, Told]) -> None:
        """What lists are made of has each job once, and no other; and who is to be paused."""
        keys, states, jobs = self.store.keys, list(State), list(there)

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=False)
            for key in (keys.jobs(), *map(keys.jobs, states)):
                pipe.zrange(key, 0, -1)
            for job in jobs:
                pipe.hexists(keys.job(job), "pausing")
            return await pipe.execute()

        all_, *found = self.do(self.store._link.call(send))
        assert {name.decode() for name in all_} == set(jobs)
        for state, members in zip(states, found, strict=False):
            mine = {job for job in jobs if there[job].state is state}
            assert {name.decode() for name in members} == mine
        pausing = [bool(flag) for flag in found[len(states) :]]
        assert pausing == [there[job].pausing and there[job].state in AT_WORK for job in jobs]

    def look(self, jobs: Sequence[str]) -> list[Any]:
        """What the keys have, in one go: sets of jobs, then the events of each."""
        keys = self.store.keys

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=False)
            pipe.zrange(keys.ready, 0, -1)
            pipe.zrange(keys.delayed, 0, -1)
            pipe.zrange(keys.later, 0, -1)
            pipe.smembers(keys.held)
            pipe.hkeys(keys.needs)
            pipe.zrange(keys.lease, 0, -1)
            pipe.zrange(keys.archived, 0, -1)
            pipe.zrange(keys.uncleared, 0, -1)
            pipe.smembers(keys.unrecorded)
            for job in jobs:
                pipe.xrange(keys.events(job))
            return await pipe.execute()

        found = self.do(self.store._link.call(send))
        return [*({name.decode() for name in members} for members in found[:9]), *found[9:]]


def walk(examples: int, steps: int, phases: Sequence[Phase]) -> None:
    """Any rule that can be followed, again and again: none is left out for a whole example.

    Which is what `run_state_machine_as_test` does, and few of its examples then have many attempts.
    """
    rules = InsideModel.setup_state().rules

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def one(data: st.DataObject) -> None:
        machine, rng = InsideModel(), data.draw(st.randoms(use_true_random=True))
        try:
            for _ in range(steps):
                can = [rule for rule in rules if all(met(machine) for met in rule.preconditions)]
                taken = rng.choice(can)
                drawn = {name: data.draw(what) for name, what in taken.arguments.items()}
                taken.function(machine, **drawn)
                machine.agrees()
                machine.agrees_inside()
        finally:
            machine.teardown()

    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "FIRST_PAUSE", LONGEST_PAUSE)  # no rest is over by itself
        InsideModel.server = stack.enter_context(servers.running())
        one()


@pytest.mark.slow
def test_all_keys_agree() -> None:
    walk(100, 60, (Phase.generate,))  # shrinking walks takes minutes, and tells little


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "mutant"),
    [(script, mutant) for script, mutants in MUTANTS.items() for mutant in mutants],
)
def test_no_mutant_survives(
    script: str, mutant: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = mutant
    path = script if "/" in script else f"queue/scripts/{script}"
    own = read(path)
    assert before in own.source, "the script has changed: change this, too"

    def mutated(*names: str) -> Script:
        script = read(*names)
        return Script.of(script.source.replace(before, after)) if path in names else script

    monkeypatch.setattr(module, "read", mutated)
    with pytest.raises(BaseException):  # noqa: B017, PT011 - whatever shows it
        walk(200, 50, (Phase.generate,))
