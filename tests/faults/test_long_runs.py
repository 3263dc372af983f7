"""Ten thousand rounds: points stay on their manifolds, and memory stays flat."""

import gc
import os
from pathlib import Path
from typing import Any

import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.memory import Memory
from tests.world import toys

assert toys  # importing it registers its kinds

ROWS = {"kind": "gaussian_blocks", "clients": 3, "samples": 6, "dimension": 5}
MATRICES = {"kind": "synthetic_spd", "clients": 3, "samples": 4, "size": 3}
TASKS: dict[str, dict[str, Any]] = {
    "sphere": {"kind": "pca", "rank": 1, "data": ROWS},
    "stiefel": {"kind": "pca", "rank": 2, "data": ROWS},
    "spd": {"kind": "spd_frechet_mean", "data": MATRICES},
    "lorentz": {"kind": "hyperbolic_frechet_mean"},
}


def table(task: str, **more: Any) -> dict[str, Any]:
    return {
        "task": TASKS[task],
        "algorithm": {"kind": "rfedags", "steps": 2, "batch": 2, "step_size": 0.05},
        "metrics": ["off_manifold"],
        **more,
    }


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("rounds", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_rounding_does_not_lead_off_the_manifold(task: str, rounds: int) -> None:
    """Each evaluation tells how far off the model is."""
    sink = Memory()
    spec = from_mapping(
        table(task, horizon={"rounds": rounds}, evaluate_every=max(1, rounds // 40))
    )
    run(spec, sinks=[sink])
    off = [r.values["off_manifold"] for r in sink.records if r.kind == "evaluation"]
    assert len(off) == 41
    # Roundings of 2e-16 that added up would be at 2e-12 after ten thousand rounds.
    assert max(off) < 1e-13


@pytest.mark.parametrize("task", ["sphere", "stiefel"])
def test_a_point_that_is_off_is_brought_back(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the next step. On the others every array of numbers is a point."""
    spec = from_mapping(table(task, horizon={"rounds": 3}, evaluate_every=1))
    problem = build(spec).problem
    off = problem.initial_point() * (1 + 1e-6)
    monkeypatch.setattr(type(problem), "initial_point", lambda self: off)
    sink = Memory()
    run(spec, sinks=[sink])
    first, *later = [r.values["off_manifold"] for r in sink.records if r.kind == "evaluation"]
    assert first > 1e-7
    assert max(later) < 1e-13


STREAMING: dict[str, Any] = {  # private memories, phases that are carried, drop-outs
    "task": {"kind": "test-quadratic", "clients": 6},
    "algorithm": {"kind": "test-two-phase", "steps": 1},
    "participation": {"kind": "diurnal", "slot": 5.0, "duty": 0.6},
    "latency": {"kind": "lognormal", "per_sample": 0.1},
    "evaluate_every": 50,
}
CADENCES: dict[str, dict[str, Any]] = {
    "synchronous": {},
    "buffered": {
        "algorithm": {"kind": "fedavg", "steps": 2, "step_size": 0.1},
        "cadence": {"kind": "buffered", "concurrency": 4, "buffer": 2},
        "faults": {"on_interrupt": "suspend"},
    },
    "immediate": {
        "algorithm": {"kind": "rfedags", "steps": 2, "step_size": 0.1},
        "cadence": {"kind": "immediate", "concurrency": 4},
        "faults": {"on_interrupt": "partial"},
    },
}


class Scale(RecordSink):
    """Weighs the process after two rounds, and keeps nothing else."""

    def __init__(self, first: int, last: int) -> None:
        self.at = {first, last}
        self.weighed: list[float] = []

    def emit(self, record: Record) -> None:
        if record.kind == "round" and record.version in self.at:
            gc.collect()
            self.weighed.append(self.weigh())

    def weigh(self) -> float:
        """Resident bytes."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return float(pages * os.sysconf("SC_PAGE_SIZE"))


@pytest.mark.slow
@pytest.mark.parametrize("case", CADENCES)
def test_ten_thousand_rounds_in_flat_memory(case: str, tmp_path: Path) -> None:
    """Events and metrics are streamed: the log alone has megabytes.

    Of events up to 4,096 are gathered before they are hashed, which is half a megabyte.
    """
    spec = from_mapping({**STREAMING, **CADENCES[case], "horizon": {"rounds": 10_000}})
    scale = Scale(1_000, 10_000)
    run(spec, sinks=[scale], folder=tmp_path)
    assert (tmp_path / "records.jsonl").stat().st_size > 3e6
    before, after = scale.weighed
    assert after - before < 2e6
