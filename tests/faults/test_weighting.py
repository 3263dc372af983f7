"""Client weights are computed and applied: unequal sizes give the mean worked out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.world import scripted

SIZES = [1, 4, 15]

assert scripted  # importing it registers its kinds


def table(path: Path, weighting: str, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    owner = np.repeat(np.arange(3), SIZES)
    np.savez(path, x=rng.standard_normal((20, 3)) + owner[:, None], y=owner % 2, owner=owner)
    return {
        "task": {
            "kind": "softmax_regression",
            "data": {"kind": "npz", "path": str(path)},
            "partition": {"kind": "natural"},
            "clients": "natural",
            "weighting": weighting,
        },
        "algorithm": {"kind": "fedavg", "steps": 2, "step_size": 0.5},
        "horizon": {"rounds": 1},
        **more,
    }


def trained_by_hand(path: Path, client: int) -> Any:
    """Two full gradient steps from zero on the rows of one client."""
    with np.load(path) as data:
        mine = data["owner"] == client
        z, y = data["x"][mine], data["y"][mine]
    x = np.zeros((3, 2))
    for _ in range(2):
        scores = np.exp(z @ x)
        chance = scores / scores.sum(axis=1, keepdims=True)
        x = x - 0.5 * z.T @ (chance - np.eye(2)[y]) / len(y)
    return x


@pytest.mark.parametrize("kind", ["fedavg", "rfedavg", "rfedags"])
@pytest.mark.parametrize(
    ("weighting", "weights"), [("samples", [1 / 20, 4 / 20, 15 / 20]), ("clients", [1 / 3] * 3)]
)
def test_the_mean_is_weighted(
    weighting: str, weights: list[float], kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.npz"
    spec = from_mapping(
        table(path, weighting, algorithm={"kind": kind, "steps": 2, "step_size": 0.5})
    )
    by_hand = sum(w * trained_by_hand(path, i) for i, w in enumerate(weights))
    # Rounding of some hundred operations on numbers near 1.
    np.testing.assert_allclose(run(spec).model, by_hand, rtol=0, atol=1e-14)


def test_the_mean_over_some_is_weighted_among_them(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    some = {"kind": "test-sessions", "on": [[0.0, 9.0], [], [0.0, 9.0]]}
    spec = from_mapping(table(path, "samples", participation=some))
    by_hand = (1 * trained_by_hand(path, 0) + 15 * trained_by_hand(path, 2)) / 16
    np.testing.assert_allclose(run(spec).model, by_hand, rtol=0, atol=1e-14)


def test_the_objective_is_weighted_alike(tmp_path: Path) -> None:
    problem = build(from_mapping(table(tmp_path / "data.npz", "samples"))).problem
    np.testing.assert_allclose(problem.fleet.importance, np.array(SIZES) / 20, rtol=1e-15)
    everyone = np.arange(3)
    view = problem.view(everyone, everyone)
    x = np.random.default_rng(0).standard_normal((3, 2))
    losses = view.loss(np.stack([x] * 3), view.everything())
    assert problem.evaluate(x, 0.0)["loss"] == pytest.approx(losses @ SIZES / 20, rel=1e-13)


def test_who_weighs_nothing_the_first_time_is_heard_all_the_same() -> None:
    """Everybody responds in every round: the first one is void, and the second is a full step."""
    table = {
        "task": {
            "kind": "pca",
            "rank": 1,
            "data": {"kind": "gaussian_blocks", "clients": 3, "samples": 2, "dimension": 3},
        },
        "algorithm": {"kind": "rfedags", "step_size": 0.01, "steps": 1},
        "horizon": {"rounds": 2},
    }
    zero = run(from_mapping({**table, "estimator": {"kind": "past", "unseen": "zero"}}))
    plain = run(from_mapping({**table, "horizon": {"rounds": 1}}))
    assert zero.counts["skipped"] == 1
    np.testing.assert_allclose(zero.model, plain.model, rtol=0, atol=1e-15)
