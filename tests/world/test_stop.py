"""Snapshots that are asked for: a run that is stopped goes on later as if nothing had been."""

from functools import cache
from typing import Any

from driftfold.checkpoint.memory import MemoryStore
from driftfold.run import run
from driftfold.spec import JobSpec, from_mapping
from driftfold.telemetry.base import Record, RecordSink
from tests.world.test_resume import CASES, outcome


class Listener(RecordSink):
    """Keeps what it hears of snapshots, and the number of the last record before each."""

    def __init__(self) -> None:
        self.last = 0
        self.heard: list[tuple[str, int, int]] = []

    def emit(self, record: Record) -> None:
        self.last = record.seq

    def checkpointed(self, name: str, seq: int) -> None:
        self.heard.append((name, seq, self.last))


def unsaved(case: str) -> JobSpec:
    return from_mapping({**CASES[case], "checkpoint_every": 0})


@cache
def undisturbed(case: str) -> tuple[Any, ...]:
    return outcome(run(unsaved(case)))


def test_stopped_and_continued_under_another_name() -> None:
    for case in CASES:
        spec = unsaved(case)
        store, listener = MemoryStore(), Listener()
        steps = iter(range(1000))
        part = run(
            spec,
            store=store,
            sinks=[listener],
            name="first",
            stop=lambda steps=steps: next(steps) == 16,  # type: ignore[misc]
        )
        assert (part.ended, part.rounds) == ("stopped", 17), case
        ((name, seq, last),) = listener.heard
        assert seq == last
        resumed = run(spec, store=store, past=store.load("first", name), name="second")
        assert resumed.resumed_from == 17
        assert outcome(resumed) == undisturbed(case), case


def test_snapshots_on_demand_change_nothing() -> None:
    for case in CASES:
        spec = unsaved(case)
        store, listener = MemoryStore(), Listener()
        steps = iter(range(1, 1000))
        asked = run(
            spec,
            store=store,
            sinks=[listener],
            checkpoint=lambda steps=steps: next(steps) in (5, 12),  # type: ignore[misc]
        )
        assert outcome(asked) == undisturbed(case), case
        assert [store.load(asked.spec_digest, name).meta["version"] for name, _, _ in
                listener.heard] == [5, 12]  # fmt: skip
