"""What must not change a run: another process, how it is watched, in what portions it computes."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from driftfold.algorithms.base import Algorithm
from driftfold.algorithms.local_steps import ServerPoint
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.arrays import Array
from driftfold.checkpoint.memory import MemoryStore
from driftfold.registry import register
from driftfold.result import Result
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.base import Problem, Task
from driftfold.tasks.pca import Pca, PcaProblem
from driftfold.telemetry.jsonl import JsonLines
from driftfold.telemetry.memory import Memory
from tests.modules import ROOT
from tests.world import toys

TABLE: dict[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 2,
        "data": {"kind": "gaussian_classes", "classes": 4, "features": 9, "samples": 1200},
        "partition": {"kind": "dirichlet", "alpha": 0.5},
        "clients": 100,
    },
    "algorithm": {"kind": "rfedags", "steps": 3, "batch": 4, "step_size": 0.01},
    "participation": {"kind": "diurnal", "slot": 20.0, "duty": 0.6},
    "latency": {"kind": "lognormal"},
    "cadence": {"kind": "synchronous", "cohort": 66, "over_selection": 1.2, "deadline": 300.0},
    "estimator": {"kind": "inclusive"},
    "horizon": {"rounds": 12},
    "seed": 2**63 + 11,
}
# Results in flight, private memories, decisions on values.
BUFFERED: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": 12},
    "algorithm": {"kind": "test-two-phase"},
    "participation": {"kind": "diurnal", "slot": 5.0, "duty": 0.6},
    "estimator": {"kind": "none"},
    "latency": {"kind": "lognormal", "per_sample": 0.1},
    "cadence": {"kind": "test-buffered", "decides": True},
    "horizon": {"rounds": 20},
}
CASES = {"synchronous": TABLE, "buffered": BUFFERED}

assert toys  # importing it registers its kinds


@register("test-rfedags-more")
@dataclass(frozen=True)
class MoreOfAlgorithm(Algorithm[ServerPoint]):
    """RFedAGS that measures one thing more."""

    def phases(self, problem: Problem) -> Any:
        return RFedAGS(3, 4, 0.01).phases(problem)

    def begin(self, problem: Problem, x: Array) -> ServerPoint:
        return ServerPoint(x)

    def model(self, state: ServerPoint) -> Array:
        return state.point

    def evaluate(
        self, problem: Problem, state: ServerPoint, memories: Any, time: float
    ) -> Mapping[str, float]:
        return {"largest": float(state.point.max())}


class MoreOfProblem(PcaProblem):
    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        return {**super().evaluate(x, time), "time": time}


@register("test-pca-more")
@dataclass(frozen=True)
class MoreOfTask(Task):
    """PCA with one metric more."""

    inner: Pca = field(default_factory=Pca)

    def build(self, seed: Seed) -> Problem:
        made = self.inner.build(seed)
        return MoreOfProblem(made.data, made.fleet, made.manifold)


def trained(result: Result) -> tuple[Any, ...]:
    """What training did: everything but how it was watched."""
    return (
        result.event_digest,
        result.metrics_digest,
        result.model_digest,
        result.counts,
        result.events,
        result.time,
    )


@pytest.fixture(scope="module")
def plain() -> dict[str, Result]:
    return {name: run(from_mapping(table)) for name, table in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_twice_in_one_process(case: str, plain: dict[str, Result]) -> None:
    again = run(from_mapping(CASES[case]))
    assert trained(again) == trained(plain[case])
    assert again.evaluation_digest == plain[case].evaluation_digest
    other = run(from_mapping({**CASES[case], "seed": 1}))
    assert other.event_digest != plain[case].event_digest
    assert other.metrics_digest != plain[case].metrics_digest


@pytest.mark.parametrize("tile", [1, 7, 37, 64, 10**6])
@pytest.mark.parametrize("case", CASES)
def test_the_width_of_stacks(case: str, tile: int, plain: dict[str, Result]) -> None:
    table = {**CASES[case], "compute": {"kind": "stacked", "tile": tile}}
    assert trained(run(from_mapping(table))) == trained(plain[case])


@pytest.mark.parametrize("case", CASES)
def test_the_engine_changes_no_event(case: str, plain: dict[str, Result]) -> None:
    result = run(from_mapping({**CASES[case], "compute": {"kind": "loop"}}))
    # A decision on values may differ in the last bit, and with it the time of what follows.
    if case == "synchronous":
        assert result.event_digest == plain[case].event_digest
    assert result.counts == plain[case].counts


@pytest.mark.parametrize("every", [1, 3, 10, 10**6])
@pytest.mark.parametrize("case", CASES)
def test_the_schedule_of_evaluations(case: str, every: int, plain: dict[str, Result]) -> None:
    result = run(from_mapping({**CASES[case], "evaluate_every": every}))
    assert trained(result) == trained(plain[case])
    assert result.metrics == plain[case].metrics, "the final model is always measured"


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("case", CASES)
def test_snapshots(case: str, every: int, plain: dict[str, Result]) -> None:
    store = MemoryStore()
    result = run(from_mapping({**CASES[case], "checkpoint_every": every}), store=store)
    assert store.latest(result.spec_digest) is not None
    assert trained(result) == trained(plain[case])


@pytest.mark.parametrize("case", CASES)
def test_who_listens(case: str, plain: dict[str, Result], tmp_path: Path) -> None:
    sinks = [Memory(), JsonLines(tmp_path / "a"), Memory(), JsonLines(tmp_path / "b")]
    result = run(from_mapping(CASES[case]), sinks=sinks, folder=tmp_path / "run")
    assert trained(result) == trained(plain[case])


def test_one_metric_more(plain: dict[str, Result]) -> None:
    algorithm = {"kind": "test-rfedags-more"}
    result = run(from_mapping({**TABLE, "algorithm": algorithm}))
    assert "largest" in result.metrics
    assert trained(result) == trained(plain["synchronous"])
    inner = {name: value for name, value in TABLE["task"].items() if name != "kind"}
    task = {"kind": "test-pca-more", "inner": inner}
    result = run(from_mapping({**TABLE, "task": task}))
    assert "time" in result.metrics
    assert trained(result) == trained(plain["synchronous"])


PROGRAM = """
import json, sys
from driftfold.run import run
from driftfold.spec import from_mapping, load_plugins
from driftfold.world.server import Server
from tests.world import toys
load_plugins(sys.argv[2:])
cohorts, invite = [], Server.invite
def watched(self, clients):
    willing, dispatch = invite(self, clients)
    cohorts.append(willing.tolist())
    return willing, dispatch
Server.invite = watched
said = {}
for case, table in json.loads(sys.argv[1]).items():
    result = run(from_mapping(table)).to_json()
    del result["timing"]
    said[case] = [cohorts.copy(), result]
    cohorts.clear()
print(json.dumps(said))
"""
UNUSED = """
from dataclasses import dataclass
import numpy as np
import random
from driftfold.participation.base import Attendance, Participation
from driftfold.registry import register

random.seed(1), np.random.seed(1)

@register("test-unused")
@dataclass(frozen=True)
class Unused(Participation):
    def attend(self, fleet):
        return Attendance()
"""


def test_three_fresh_processes_choose_the_same_participants(
    plain: dict[str, Result], tmp_path: Path
) -> None:
    """With other hash seeds and numbers of threads, one with a plug-in that is not used."""
    plugin = tmp_path / "unused_kind.py"
    plugin.write_text(UNUSED)
    said = []
    for hashes, threads, plugins in (("0", "1", []), ("1", "2", []), ("7", "1", [str(plugin)])):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps(CASES), *plugins],
            env={**os.environ, "PYTHONHASHSEED": hashes, "OMP_NUM_THREADS": threads,
                 "OPENBLAS_NUM_THREADS": threads, "PYTHONPATH": str(ROOT)},
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        said.append(json.loads(done.stdout))
    assert said[0] == said[1] == said[2]
    for case, (cohorts, result) in said[0].items():
        assert len({tuple(cohort) for cohort in cohorts}) > 5
        assert result["event_digest"] == plain[case].event_digest
        assert result["metrics_digest"] == plain[case].metrics_digest
        assert result["model_digest"] == plain[case].model_digest
