"""NaN, infinity, zero weights, clients without data: counted, never in the model, never a crash."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.errors import BadUpdate
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.memory import Memory
from tests.world.scripted import CLIENTS, TABLE, faults, model_after, rounds, told

EVERYBODY = list(range(CLIENTS))


@pytest.mark.parametrize("fault", ["nan", "infinite"])
@pytest.mark.parametrize("engine", ["stacked", "loop"])
def test_one_bad_update_is_rejected(fault: str, engine: str) -> None:
    result, records = told(
        TABLE, algorithm={"kind": "test-scripted", fault: [3]}, compute={"kind": engine}
    )
    assert (result.counts["rejected"], result.counts["accepted"]) == (3, 15)
    assert [f.note for f in faults(records)] == ["client 3: the update is not finite"] * 3
    others = [c for c in EVERYBODY if c != 3]
    np.testing.assert_allclose(result.model, model_after([others] * 3), rtol=0, atol=1e-14)


@pytest.mark.parametrize("fault", ["nan", "infinite"])
def test_when_all_are_bad_the_round_is_skipped(fault: str) -> None:
    result, records = told(TABLE, algorithm={"kind": "test-scripted", fault: EVERYBODY, "until": 2})
    assert [r["skipped"] for r in rounds(records)] == [1.0, 1.0, 0.0]
    assert [r["rejected"] for r in rounds(records)] == [6.0, 6.0, 0.0]
    np.testing.assert_allclose(result.model, model_after([EVERYBODY]), rtol=0, atol=1e-14)


def test_the_policy_may_be_to_fail() -> None:
    algorithm = {"kind": "test-scripted", "nan": [4, 2]}
    spec = from_mapping({**TABLE, "algorithm": algorithm, "faults": {"on_bad_update": "fail"}})
    with pytest.raises(BadUpdate, match=r"client 2 \(and 1 more clients\) sent no usable update"):
        run(spec)


def test_a_step_that_breaks_the_model_is_not_taken() -> None:
    """The updates are finite; the sum that the server makes of them is not."""
    algorithm = {"kind": "test-scripted", "server_step": 1e308}
    table = {**TABLE, "task": {"kind": "test-quadratic", "clients": CLIENTS, "dimension": 40}}
    result, records = told(table, algorithm=algorithm)
    assert np.isfinite(result.model).all()
    assert [r["skipped"] for r in rounds(records)][-1] == 1.0
    assert result.counts["rejected"] == 0
    spec = from_mapping({**table, "algorithm": algorithm, "faults": {"on_bad_update": "fail"}})
    with pytest.raises(BadUpdate, match="made the model infinite or NaN though every update"):
        run(spec)


@pytest.mark.parametrize("kind", ["rfedags", "rfedavg", "rfedsvrg"])
@pytest.mark.parametrize("rank", [1, 2])
def test_a_step_size_beyond_all_numbers(kind: str, rank: int) -> None:
    """Updates overflow in the real algorithms too: the model stays finite, and on its manifold."""
    table = {
        "task": {
            "kind": "pca",
            "rank": rank,
            "data": {"kind": "gaussian_blocks", "clients": 4, "samples": 6, "dimension": 5},
        },
        "algorithm": {"kind": kind, "steps": 2, "step_size": 1.7e308},
        "horizon": {"rounds": 2},
    }
    result, records = told(table)
    assert result.ended == "rounds"
    assert np.isfinite(result.model).all()
    assert all(r["rejected"] > 0 for r in rounds(records))
    problem = build(from_mapping(table)).problem
    assert problem.manifold.off_point(result.model) < 1e-12


@pytest.mark.parametrize("kind", ["rfedavg", "rfedsvrg"])
def test_end_points_without_a_way_back(kind: str) -> None:
    """Finite, on the manifold, and too far away for an inverse retraction: no step is taken."""
    data = {"kind": "gaussian_blocks", "clients": 8, "samples": 20, "dimension": 30}
    table = {
        "task": {"kind": "pca", "rank": 5, "data": data},
        "algorithm": {"kind": kind, "step_size": 1e3},
        "horizon": {"rounds": 2},
    }
    result, _ = told(table)
    assert (result.counts["skipped"], result.counts["rejected"]) == (2, 0)
    problem = build(from_mapping(table)).problem
    np.testing.assert_array_equal(result.model, problem.initial_point())


@pytest.mark.parametrize("each", [0.0, np.nan, np.inf, -np.inf], ids=str)
def test_weights_that_are_none_skip_the_round(each: float, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.world.scripted import Weights

    def weigh(self: Any, state: None, fleet: Any, responders: Any, round: int) -> Any:
        return np.full(len(responders), each), None

    monkeypatch.setattr(Weights, "weigh", weigh)
    result, records = told(TABLE, estimator={"kind": "test-weights"})
    assert [r["skipped"] for r in rounds(records)] == [1.0] * 3
    assert result.counts["accepted"] == 18
    np.testing.assert_array_equal(result.model, model_after([]))


def survey_that_fails(told_after: list[list[float]]) -> tuple[Result, list[Any]]:
    """Two phases; the first gives nothing in round 1, and all are away when the second comes."""
    return told(
        {
            **TABLE,
            "algorithm": {"kind": "test-two-phase"},
            "task": {"kind": "test-quadratic", "clients": 2},
            "latency": {"kind": "constant", "per_sample": 0.1},
            "participation": {"kind": "test-sessions", "on": told_after},
        }
    )


@pytest.mark.parametrize("away", [False, True])
def test_a_void_first_phase_is_skipped_once(away: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next round is a round like any other."""
    from tests.world.toys import Drill, Survey

    honest, drill = Survey.local, Drill.missed
    monkeypatch.setattr(Drill, "missed", "drop")
    assert drill == "carry"
    calls = []

    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> Any:
        calls.append(view)
        if len(calls) <= 3:  # the stack of both, then each alone
            raise LookupError("no survey today")
        return honest(self, download, view, memory, steps)

    monkeypatch.setattr(Survey, "local", local)
    on = [[0.0, 1.0, 2.0, 1e9]] * 2 if away else []
    result, records = survey_that_fails(on)
    assert [r["skipped"] for r in rounds(records)] == [1.0, 0.0, 0.0]
    assert [r["accepted"] for r in rounds(records)] == [0.0, 4.0, 4.0]
    assert rounds(records)[0]["missed"] == (2.0 if away else 0.0)
    assert result.counts["failed"] == 2


def owners(path: Path, samples: list[int]) -> dict[str, Any]:
    """A task on data of clients with these many samples."""
    rng = np.random.default_rng(1)
    owner = np.repeat(np.arange(len(samples)), samples)
    np.savez(path, x=rng.standard_normal((len(owner), 4)), y=owner % 2, owner=owner)
    data = {"kind": "npz", "path": str(path)}
    return {"data": data, "partition": {"kind": "natural"}, "weighting": "samples"}


@pytest.mark.parametrize("task", ["softmax_regression", "pca"])
@pytest.mark.parametrize("estimator", ["none", "inclusive", "past", "oracle"])
def test_a_client_without_data_counts_for_nothing(
    task: str, estimator: str, tmp_path: Path
) -> None:
    part = owners(tmp_path / "data.npz", [5, 0, 3])
    size = {"clients": "natural"} if task == "softmax_regression" else {"rank": 2}
    table = {
        "task": {"kind": task, **part, **size},
        "algorithm": {"kind": "rfedags", "steps": 2, "batch": 2},
        "estimator": {"kind": estimator},
        "horizon": {"rounds": 3},
    }
    result, _records = told(table)
    assert np.isfinite(result.model).all()
    assert (result.counts["accepted"], result.counts["skipped"]) == (9, 0)


def test_a_round_of_clients_without_data_is_skipped(tmp_path: Path) -> None:
    part = owners(tmp_path / "data.npz", [5, 0, 3])
    table = {
        "task": {"kind": "softmax_regression", **part, "clients": "natural"},
        "algorithm": {"kind": "fedavg"},
        "participation": {"kind": "test-sessions", "on": [[], [0.0, 1e9], []]},
        "horizon": {"rounds": 3},
    }
    result, records = told(table)
    assert [r["skipped"] for r in rounds(records)] == [1.0] * 3
    np.testing.assert_array_equal(result.model, np.zeros_like(result.model))


def test_a_void_step_is_told_with_its_reason() -> None:
    """End points too far away for the mean: the round is skipped, and a record says why."""
    memory = Memory()
    spec = from_mapping(
        {
            "task": {"kind": "pca", "rank": 2, "data": {"kind": "gaussian_blocks", "clients": 4}},
            "algorithm": {"kind": "rfedavg", "step_size": 100.0},
            "horizon": {"rounds": 3},
        }
    )
    result = run(spec, sinks=[memory])
    told = [r for r in memory.records if r.kind == "fault"]
    assert len(told) == result.counts["skipped"] > 0
    assert all("take smaller steps" in r.note or "not finite" in r.note for r in told)
