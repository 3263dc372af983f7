"""Asynchronous cadences where they equal something simpler: rounds, and geodesics by hand."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.assembly import build
from driftfold.spec import from_mapping
from tests.world.scripted import told
from tests.world.test_flow import AT_ONCE, FOUR, SPHERE

TWELVE: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": 12},
    "algorithm": {"kind": "fedavg", "steps": 3, "step_size": 0.25},
    "latency": {"kind": "constant"},
    "horizon": {"rounds": 12},
    "evaluate_every": 12,
}
ON_THE_SPHERE: dict[str, Any] = {
    "task": {
        "kind": "pca", "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 12, "samples": 6, "dimension": 4},
    },
    "algorithm": {"kind": "rfedags", "steps": 3, "batch": 2, "step_size": 0.3},
}  # fmt: skip
TURNS = {"kind": "round_robin"}  # so that both choose the same clients


@pytest.mark.parametrize("estimator", ["none", "inclusive"])
@pytest.mark.parametrize("changes", [{}, ON_THE_SPHERE], ids=["flat", "sphere"])
@pytest.mark.parametrize("cohort", [12, 4])
def test_fedbuff_in_step_is_fedavg(cohort: int, changes: dict[str, Any], estimator: str) -> None:
    """Concurrency = buffer = cohort and equal delays: all come at once, none is stale."""
    table = {**TWELVE, **changes, "estimator": {"kind": estimator}}
    one, _ = told(table, cadence={"kind": "synchronous", "cohort": cohort, "selection": TURNS})
    flow = {"kind": "buffered", "concurrency": cohort, "buffer": cohort, "selection": TURNS}
    two, _ = told(table, cadence=flow)
    assert one.counts["accepted"] == two.counts["accepted"] == 12 * cohort
    assert np.abs(one.model).max() > 0.1
    assert np.abs(one.model - two.model).max() < 1e-12


def test_fedasync_on_the_sphere_goes_along_geodesics() -> None:
    """Models are mixed: from the present point towards the client's, rate s of the way."""
    table = {**SPHERE, "algorithm": {"kind": "rfedavg", "steps": 1, "step_size": 0.8}}
    problem: Any = build(from_mapping({**table, "horizon": {"rounds": 1}})).problem
    cadence = {"kind": "immediate", "concurrency": 4, "rate": 0.5, "mixes": "model"}
    result, _ = told(table, cadence=cadence, horizon={"rounds": len(AT_ONCE)})
    xs = [problem.initial_point()]
    for _, (client, version) in AT_ONCE:
        z, old, x = problem.data.x[client], xs[version], xs[-1]
        g = -2 * z.T @ (z @ old) / len(z)
        u = -0.8 * (g - (g @ old) * old)
        y = np.cos(np.linalg.norm(u)) * old + np.sinc(np.linalg.norm(u) / np.pi) * u
        xs.append(_between(x, y, 0.5 * (len(xs) - version) ** -0.5))
    assert np.abs(result.model - xs[-1]).max() < 1e-13
    assert np.abs(xs[-1] - xs[0]).max() > 0.01


def _between(x: Array, y: Array, share: float) -> Array:
    """The point a share of the great circle's arc from x to y."""
    angle = np.arccos(x @ y)
    point: Array = (np.sin((1 - share) * angle) * x + np.sin(share * angle) * y) / np.sin(angle)
    return point


def test_delays_make_a_difference() -> None:
    """Or the first test would show nothing: out of step the two are not the same."""
    table = {**FOUR, "horizon": {"rounds": 12}}
    one, _ = told(table, cadence={"kind": "synchronous", "cohort": 4})
    two, _ = told(table, cadence={"kind": "buffered", "concurrency": 4, "buffer": 4})
    assert np.abs(one.model - two.model).max() > 1e-6
