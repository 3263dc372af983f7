"""Visits that are suspended, cut short or called in come back, bit for bit, from a snapshot."""

import random
from typing import Any

import pytest

from driftfold.checkpoint.memory import MemoryStore
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import JobSpec, from_mapping
from driftfold.telemetry.memory import Memory
from driftfold.world.client import Errand
from driftfold.world.keeper import Keeper
from driftfold.world.server import Server
from tests.world import scripted
from tests.world.test_resume import Bomb, outcome

assert scripted  # importing it registers its kinds

TABLE: dict[str, Any] = {
    "task": {
        "kind": "pca", "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 12, "samples": 6, "dimension": 4},
    },
    "algorithm": {"kind": "rfedags", "steps": 4, "batch": 3},
    "participation": {"kind": "markov_sessions", "p": 0.6, "session": 6.0},
    "latency": {"kind": "lognormal", "per_sample": 0.4},
    "cadence": {"kind": "buffered", "concurrency": 8, "buffer": 3},
    "horizon": {"rounds": 16},
    "checkpoint_every": 4,
}  # fmt: skip
FORCE = {**TABLE["cadence"], "max_staleness": 1, "beyond": "force"}
CASES: dict[str, dict[str, Any]] = {
    "suspend": {"faults": {"on_interrupt": "suspend"}},
    "partial": {"faults": {"on_interrupt": "partial"}},
    "force": {"faults": {"on_interrupt": "partial"}, "cadence": FORCE},
}


@pytest.mark.parametrize(
    ("case", "times"),
    [("force", 1), *(pytest.param(case, 10, marks=pytest.mark.slow) for case in CASES)],
)
def test_interrupted_anywhere_and_resumed(case: str, times: int) -> None:
    spec = from_mapping({**TABLE, **CASES[case]})
    sink = Memory()
    whole = run(spec, sinks=[sink])
    assert whole.counts["suspended" if case == "suspend" else "partial"] > 10
    after = next(r.seq for r in sink.records if r.version == 6)  # the first snapshot is of 4
    for at in random.Random(case).sample(range(after, len(sink.records)), times):
        resumed = killed_and_resumed(spec, at, MemoryStore())
        assert resumed.resumed_from
        assert outcome(resumed) == outcome(whole)


def killed_and_resumed(spec: JobSpec, at: int, store: MemoryStore) -> Result:
    with pytest.raises(KeyboardInterrupt):
        run(spec, store=store, sinks=[Bomb(at)])
    return run(spec, store=store, resume=True)


def test_killed_in_the_gap_of_a_suspended_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Client 0 works from 0 to 0.5 and from 30 on; the others go on stepping meanwhile."""
    table: dict[str, Any] = {
        **TABLE,
        "participation": {"kind": "test-sessions", "on": [[0.0, 0.5, 30.0, 1e9]]},
        "latency": {"kind": "test-delays", "work": [1.0, 1.6, 2.2, 4.1] * 3},
        "faults": {"on_interrupt": "suspend"},
        "cadence": {"kind": "buffered", "concurrency": 12, "buffer": 12},
        "horizon": {"rounds": 30},
        "checkpoint_every": 1,
    }
    kept: list[tuple[float, Errand | None]] = []
    snapshot = Keeper.snapshot

    def watched(self: Keeper, server: Server) -> Any:
        kept.append((server.loop.time(), server.in_flight.get(0)))
        return snapshot(self, server)

    monkeypatch.setattr(Keeper, "snapshot", watched)
    spec, sink = from_mapping(table), Memory()
    whole = run(spec, store=MemoryStore(), sinks=[sink])
    assert (whole.time > 31.0, whole.counts["suspended"]) == (True, 1)
    version = sum(time < 15.0 for time, _ in kept)
    time, errand = kept[version - 1]
    assert time > 5.0
    assert errand is not None
    assert errand.suspended
    at = next(r.seq for r in sink.records if r.version == version + 1)
    resumed = killed_and_resumed(spec, at, MemoryStore())
    assert resumed.resumed_from == version
    assert outcome(resumed) == outcome(whole)
