"""What a restored run must get back, and what happens when it does not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.memory import MemoryStore
from driftfold.errors import CheckpointError, ReplayMismatch, RunError
from driftfold.kernel import sleep
from driftfold.registry import register
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.memory import Memory
from driftfold.world.cadence import Cadence
from driftfold.world.cadences import Synchronous
from driftfold.world.server import Server
from tests.world import scripted

assert scripted  # importing it registers its kinds

# Everything that has a state: momenta of clients, counts of an estimator, a step size that knows
# the round; rounds of several kinds of outcomes.
TABLE: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": 12},
    "algorithm": {"kind": "test-two-phase"},
    "participation": {"kind": "bernoulli", "p": 0.5},
    "estimator": {"kind": "past"},
    "latency": {"kind": "lognormal"},
    "cadence": {"kind": "synchronous", "deadline": 30.0},
    "horizon": {"rounds": 12},
    "checkpoint_every": 5,
    "evaluate_every": 1,
}
DECAY: dict[str, Any] = {
    **TABLE,
    "algorithm": {"kind": "fedavg", "step_size": {"kind": "decay", "alpha": 0.5}},
}
MOMENTS: dict[str, Any] = {
    **TABLE,
    "algorithm": {"kind": "fedavg", "server": {"kind": "adam", "size": 0.1}},
}
BUFFERED: dict[str, Any] = {
    **TABLE,
    "cadence": {"kind": "test-buffered", "decides": True},
    "participation": {"kind": "diurnal", "slot": 5.0, "duty": 0.6},
    "latency": {"kind": "lognormal", "per_sample": 0.1},
}
CARRIED: dict[str, Any] = {**BUFFERED, "cadence": {"kind": "test-buffered"}}


class Stop(RecordSink):
    """Ends the run with its last round."""

    def __init__(self, version: int) -> None:
        self.version = version

    def emit(self, record: Record) -> None:
        if record.kind == "round" and record.version == self.version:
            raise KeyboardInterrupt


def stopped(table: dict[str, Any], version: int) -> MemoryStore:
    """The snapshots of a run that was stopped in the round before `version`."""
    store = MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        run(from_mapping(table), store=store, sinks=[Stop(version)])
    return store


def resumed(table: dict[str, Any], store: CheckpointStore) -> tuple[Result, list[Record]]:
    sink = Memory()
    return run(from_mapping(table), store=store, resume=True, sinks=[_Late(sink)]), sink.records


class _Late(RecordSink):
    """Listens only to what a resumed run tells."""

    def __init__(self, inner: Memory) -> None:
        self._inner = inner

    def emit(self, record: Record) -> None:
        self._inner.emit(record)


@pytest.mark.parametrize(
    "table",
    [TABLE, DECAY, MOMENTS, BUFFERED],
    ids=["two-phase", "decay", "optimiser", "buffered"],
)
def test_everything_comes_back(table: dict[str, Any]) -> None:
    sink = Memory()
    whole = run(from_mapping(table), sinks=[sink])
    store = stopped(table, 9)
    again, records = resumed(table, store)
    assert again.resumed_from == 5
    assert again.rounds == whole.rounds == 12
    for name in ("event_digest", "metrics_digest", "evaluation_digest", "model_digest", "counts",
                 "events", "time"):  # fmt: skip
        assert getattr(again, name) == getattr(whole, name), name
    after = [r for r in sink.records if r.seq >= records[0].seq]
    assert [(r.seq, r.kind, r.version, r.values) for r in records] == [
        (r.seq, r.kind, r.version, r.values) for r in after
    ]
    assert records[0].version >= 6


class Tampering(MemoryStore):
    """Gives snapshots back after `change` had its way with them."""

    def __init__(self, inner: MemoryStore, change: Callable[[dict[str, Any], Any], None]) -> None:
        super().__init__()
        self.files = inner.files
        self._change = change

    def load(self, run: str, name: str) -> Snapshot:
        past = super().load(run, name)
        meta, arrays = dict(past.meta), {k: v.copy() for k, v in past.arrays.items()}
        self._change(meta, arrays)
        return Snapshot(meta, arrays)


def forget_arrays(part: str) -> Callable[[dict[str, Any], Any], None]:
    """Zero the arrays of one part of the aggregator, or of the clients' memories."""

    def change(meta: dict[str, Any], arrays: Any) -> None:
        tree = meta["memories"] if part == "memories" else dict(meta["aggregator"]["map"])[part]
        names = named(tree)
        assert names
        for name in names:
            if part != "memories" or arrays[name].dtype.kind == "f":
                arrays[name][...] = 0

    return change


def named(tree: Any) -> list[str]:
    if isinstance(tree, dict):
        own = [tree["array"]] if isinstance(tree.get("array"), str) else []
        return own + [name for value in tree.values() for name in named(value)]
    if isinstance(tree, list):
        return [name for value in tree for name in named(value)]
    return []


def forget_counts(meta: dict[str, Any], arrays: Any) -> None:
    meta["tally"] = {"round": {}, "total": {}}


def forget_dispatches(meta: dict[str, Any], arrays: Any) -> None:
    meta["dispatches"] = 0


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (forget_arrays("state"), "model_digest"),
        (forget_arrays("weighing"), "model_digest"),
        (forget_arrays("memories"), "model_digest"),
        (forget_counts, "counts"),
        (forget_dispatches, "event_digest"),
    ],
)
def test_each_part_matters(change: Callable[[dict[str, Any], Any], None], what: str) -> None:
    """Or the test above would not notice that it was lost."""
    whole = run(from_mapping(TABLE))
    broken, _ = resumed(TABLE, Tampering(stopped(TABLE, 9), change))
    assert getattr(broken, what) != getattr(whole, what)


def test_the_moments_of_the_optimiser_matter() -> None:
    def forget_moments(meta: dict[str, Any], arrays: Any) -> None:
        point, *moments = named(dict(meta["aggregator"]["map"])["state"])
        assert arrays[point].any()
        assert any(arrays[name].any() for name in moments)
        for name in moments:
            arrays[name][...] = 0

    whole = run(from_mapping(MOMENTS))
    broken, _ = resumed(MOMENTS, Tampering(stopped(MOMENTS, 9), forget_moments))
    assert broken.model_digest != whole.model_digest


def test_a_replay_that_differs_is_refused() -> None:
    def other_events(meta: dict[str, Any], arrays: Any) -> None:
        meta["event_digest"] = "0" * 32

    with pytest.raises(ReplayMismatch, match="resume with the versions of the first run"):
        resumed(BUFFERED, Tampering(stopped(BUFFERED, 9), other_events))


def test_a_replay_that_ends_before_its_snapshot_is_refused() -> None:
    """It would otherwise end asleep, with the first model for the last."""

    def too_far(meta: dict[str, Any], arrays: Any) -> None:
        meta["version"] = 500

    with pytest.raises(ReplayMismatch, match="ended at server version 12 while it was replayed"):
        resumed(CARRIED, Tampering(stopped(CARRIED, 9), too_far))
    with pytest.raises(ReplayMismatch, match="where the run had decided nothing more"):
        resumed(BUFFERED, Tampering(stopped(BUFFERED, 9), too_far))


def test_a_replay_that_decides_something_else_is_refused() -> None:
    def other_question(meta: dict[str, Any], arrays: Any) -> None:
        meta["decisions"][0][0] = "whom to trust"

    with pytest.raises(ReplayMismatch, match="asks to decide 'pause' where the run decided 'whom"):
        resumed(BUFFERED, Tampering(stopped(BUFFERED, 9), other_question))


def test_a_snapshot_of_another_experiment_is_refused() -> None:
    def other(meta: dict[str, Any], arrays: Any) -> None:
        meta["identity"] = {"spec": "another", "seed": 0}

    with pytest.raises(CheckpointError, match="belongs to another experiment"):
        resumed(TABLE, Tampering(stopped(TABLE, 9), other))


def test_work_kept_from_drop_outs_outlives_a_snapshot() -> None:
    """Round 2 has nothing but drop-outs, so what they learnt is still to be computed at its end."""
    table: dict[str, Any] = {
        "task": {"kind": "test-quadratic", "clients": 2},
        "algorithm": {"kind": "test-two-phase"},
        # Phase one takes 1 s, phase two 4 s: both leave in the middle of the second one.
        "latency": {"kind": "constant", "per_sample": 0.1},
        "participation": {"kind": "test-sessions", "on": [[0.0, 8.2, 20.0, 1e9]] * 2},
        "horizon": {"rounds": 5},
        "checkpoint_every": 1,
        "evaluate_every": 1,
    }
    whole = run(from_mapping(table))
    assert (whole.counts["dropped"], whole.counts["skipped"]) == (2, 1)
    assert whole.metrics["visits"] == 10.0
    for version in (2, 3, 4, 5):
        again, _ = resumed(table, stopped(table, version))
        assert again.resumed_from == version - 1
        assert again.model_digest == whole.model_digest
        assert again.metrics == whole.metrics
        assert again.event_digest == whole.event_digest


ANSWERS: list[Any] = []


@register("test-deciding")
@dataclass(frozen=True)
class Deciding(Cadence):
    """Asks for a decision of an awkward type before each round."""

    answer: str = "tuple"

    def chooses(self) -> str | None:
        return None

    async def advance(self, server: Server) -> None:
        made = {"tuple": (1, (2.5, None)), "array": np.ones(2), "float": np.float64(0.5)}
        ANSWERS.append(await server.decide("next", lambda _: made[self.answer]))
        await sleep(1.0)
        await Synchronous().advance(server)


def test_a_decision_is_the_same_value_when_it_is_replayed() -> None:
    ANSWERS.clear()
    table = {**TABLE, "cadence": {"kind": "test-deciding"}, "horizon": {"rounds": 3}}
    run(from_mapping(table))
    assert ANSWERS == [[1, [2.5, None]]] * 3
    run(from_mapping({**table, "cadence": {"kind": "test-deciding", "answer": "float"}}))
    assert ANSWERS[3:] == [0.5] * 3
    with pytest.raises(RunError, match="cannot be logged"):
        run(from_mapping({**table, "cadence": {"kind": "test-deciding", "answer": "array"}}))
