"""In every round mode a run that is killed at a random instant and resumed equals one that was not.

Each mode has clients that come and go in sessions, an estimator that remembers, a client or a
server that remembers, and mostly a selection that does, too.
"""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from driftfold.checkpoint.memory import MemoryStore
from driftfold.kernel import now
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.base import Record, RecordSink
from tests.world import toys
from tests.world.test_resume import killed_and_resumed, outcome, told

assert toys  # importing it registers its kinds

PCA: dict[str, Any] = {
    "kind": "pca", "rank": 1,
    "data": {"kind": "gaussian_blocks", "clients": 16, "samples": 6, "dimension": 4},
}  # fmt: skip
QUADRATIC: dict[str, Any] = {"kind": "test-quadratic", "clients": 16}
REMEMBERING: dict[str, Any] = {"kind": "rfedproj", "steps": 2, "batch": 3}
CODED: dict[str, Any] = {
    "kind": "compressed", "compressor": {"kind": "top_k", "k": 2}, "error_feedback": True,
    "algorithm": {"kind": "rfedags", "steps": 2, "batch": 3, "server": {"kind": "adam"}},
}  # fmt: skip
CAPPED: dict[str, Any] = {"kind": "capped", "rule": {"kind": "inclusive"}, "max_weight": 3.0}
BASE: dict[str, Any] = {
    "task": PCA,
    "algorithm": REMEMBERING,
    "participation": {"kind": "markov_sessions", "p": 0.5, "session": 40.0},
    "latency": {"kind": "lognormal", "per_sample": 0.6},
    "horizon": {"rounds": 24},
    "evaluate_every": 5,
    "checkpoint_every": 4,
}
HOURS: dict[str, Any] = {"kind": "lognormal", "per_sample": 60.0}  # for sessions of minutes
MODES: dict[str, dict[str, Any]] = {
    "synchronous": {
        "cadence": {"kind": "synchronous", "cohort": 5, "selection": {"kind": "f3ast"}},
        "estimator": {"kind": "kalman"},
    },
    "deadline": {
        "task": QUADRATIC,
        "algorithm": {"kind": "test-two-phase"},
        "cadence": {"kind": "synchronous", "deadline": 8.0},
        "participation": {"kind": "outage", "of": BASE["participation"], "every": 90.0,
                          "duration": 20.0},
        "estimator": {"kind": "window", "rounds": 9},
    },
    "over-selection": {
        "algorithm": CODED,
        "cadence": {"kind": "synchronous", "cohort": 4, "over_selection": 1.6,
                    "selection": {"kind": "round_robin"}},
        "participation": {"kind": "sessions"},
        "latency": HOURS,
        "estimator": {"kind": "fedau"},
    },
    "minimum": {
        "task": QUADRATIC,
        "algorithm": {"kind": "fedvarp", "algorithm": {"kind": "fedavg", "steps": 2}},
        "cadence": {"kind": "synchronous", "cohort": 8, "deadline": 500.0, "minimum": 4},
        "participation": {"kind": "diurnal_sessions", "duty": 0.4, "session": 2000.0},
        "latency": {"kind": "lognormal", "per_sample": 200.0},
        "estimator": {"kind": "past"},
    },
    "buffered": {
        "cadence": {"kind": "buffered", "concurrency": 6, "buffer": 3, "max_staleness": 1,
                    "selection": {"kind": "f3ast"}},
        "estimator": {"kind": "inclusive"},
    },
    "immediate": {
        "algorithm": CODED,
        "cadence": {"kind": "immediate", "concurrency": 5, "selection": {"kind": "round_robin"}},
        "estimator": CAPPED,
    },
    "alone": {  # nothing is in flight after a step, and at times nobody is there
        "task": {"kind": "test-quadratic", "clients": 40},
        "algorithm": {"kind": "fedavg", "steps": 2},
        "cadence": {"kind": "immediate", "concurrency": 1},
        "participation": {"kind": "markov_sessions", "p": 0.1, "session": 10.0},
        "latency": {"kind": "lognormal", "per_sample": 1.0},
        "estimator": {"kind": "inclusive"},
        "horizon": {"rounds": 40},
        "checkpoint_every": 1,
    },
    "periodic": {
        "cadence": {"kind": "periodic", "period": 4.0, "concurrency": 7, "restock": 1.5,
                    "selection": {"kind": "weighted"}},
        "estimator": {"kind": "past", "prior": 1.0},
    },
    "tiered": {
        "cadence": {"kind": "tiered", "tiers": 3, "cohort": 3, "minimum": 2,
                    "selection": {"kind": "f3ast"}},
        "estimator": {"kind": "ewma"},
    },
    "asynchronous tiers": {
        "algorithm": {"kind": "fedat", "tiers": 3, "algorithm": {"kind": "rfedprox", "steps": 2}},
        "cadence": {"kind": "asynchronous_tiers", "tiers": 3, "cohort": 3,
                    "selection": {"kind": "f3ast"}},
        "estimator": {"kind": "hajek", "rule": {"kind": "past"}},
    },
}  # fmt: skip


class Fuse(RecordSink):
    """Ends the run at virtual time `at`, whatever is going on."""

    def __init__(self, at: float) -> None:
        self.at = at

    def emit(self, record: Record) -> None:
        if self.at > now():
            asyncio.get_running_loop().call_at(self.at, self._burn)
            self.at = 0.0

    def _burn(self) -> None:
        raise KeyboardInterrupt


QUICK = [("buffered", 1), ("alone", 1)]
SLOW = [pytest.param(mode, 12, marks=pytest.mark.slow) for mode in MODES]


@pytest.mark.parametrize(("mode", "times"), [*QUICK, *SLOW])
def test_killed_at_any_instant_and_resumed(mode: str, times: int, tmp_path: Path) -> None:
    spec = from_mapping({**BASE, **MODES[mode]})
    whole = run(spec, folder=tmp_path / "whole")
    records = told(tmp_path / "whole")
    first = next(time for _, _, time, version, *_ in records if version == spec.checkpoint_every)
    chance = random.Random(mode)
    for n in range(times):
        folder = tmp_path / str(n)
        with pytest.raises(KeyboardInterrupt):
            run(spec, folder=folder, sinks=[Fuse(chance.uniform(first, whole.time))])
        resumed = run(spec, folder=folder, resume=True)
        assert resumed.resumed_from
        assert outcome(resumed) == outcome(whole)
        assert told(folder) == records


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_clients_leave_and_results_are_in_flight(mode: str) -> None:
    """Or the test above would show little."""
    store = MemoryStore()
    result = run(from_mapping({**BASE, **MODES[mode]}), store=store)
    snapshot = store.latest(result.spec_digest)
    assert snapshot is not None
    assert result.counts["dropped"] > 0
    if mode in ("buffered", "immediate", "periodic", "asynchronous tiers"):
        assert snapshot.meta["tickets"]["tickets"]
    if mode in ("deadline", "over-selection"):
        assert result.counts["late"] > 0
    if mode in ("minimum", "tiered"):
        assert result.counts["unused"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_killed_by_the_system_and_resumed(mode: str, tmp_path: Path) -> None:
    table = {**BASE, **MODES[mode], "horizon": {"rounds": 600}, "checkpoint_every": 15}
    whole = run(from_mapping(table)).to_json()
    resumed = killed_and_resumed(table, tmp_path, kills=12, seed=12)
    for name in ("spec_digest", "event_digest", "metrics_digest", "evaluation_digest",
                 "model_digest", "metrics", "counts", "events", "time"):  # fmt: skip
        assert resumed[name] == whole[name], name
