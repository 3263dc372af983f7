"""Clients of two speeds: what cadences without rounds minimise, with weights by rates and without.

Clients 0 and 1 answer four times as often as 2 and 3. Without weights the stationary point is that
of the objective in which they count four times; with weights a_i / q_i, q_i the mean number of
answers in a server step, it is the true optimum.
"""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array, Floats
from driftfold.assembly import build
from driftfold.spec import from_mapping
from tests.world.scripted import told

FAST = {"buffered": (4.0, 4.0, 1.0, 1.0), "immediate": (4.0, 4.0, 1.0, 1.0)}
# Every other step has the four answers of the fast alone, the others those and two of the slow: a
# fast client's share is 2/4 and 2/6 in turn, a slow one's 0 and 1/6.
FAST["periodic"] = (5.0, 5.0, 1.0, 1.0)
CONSTANT = {"kind": "constant"}
SPEEDS: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": 4, "noise": 0.0},
    "algorithm": {"kind": "fedavg", "steps": 1, "step_size": 0.04},
    "latency": {"kind": "test-delays", "work": [1.0, 1.0, 4.0, 4.0]},
}
CADENCES: dict[str, tuple[dict[str, Any], int]] = {
    "buffered": (
        {"kind": "buffered", "concurrency": 4, "buffer": 5, "staleness": CONSTANT},
        150,
    ),
    "immediate": ({"kind": "immediate", "concurrency": 4, "rate": 0.2, "staleness": CONSTANT}, 700),
    "periodic": ({"kind": "periodic", "concurrency": 4, "period": 2.0, "staleness": CONSTANT}, 150),
}
SLOW = [
    pytest.param(cadence, estimator, marks=pytest.mark.slow)
    for cadence in CADENCES
    for estimator in ("none", "inclusive", "past")
]
QUICK = [("buffered", "none"), ("buffered", "inclusive"), ("immediate", "inclusive")]


def ended(table: dict[str, Any], cadence: str, estimator: str, longer: int = 1) -> Array:
    rule, steps = CADENCES[cadence][0], CADENCES[cadence][1] * longer
    result, _ = told(
        table,
        cadence=rule,
        estimator={"kind": estimator},
        horizon={"rounds": steps},
        evaluate_every=steps,
    )
    model: Array = result.model
    return model


def centres() -> Floats:
    problem: Any = build(from_mapping({**SPEEDS, "horizon": {"rounds": 1}})).problem
    made: Floats = problem.centres
    return made


@pytest.mark.parametrize(("cadence", "estimator"), [*QUICK, *SLOW])
def test_weights_by_rates_lead_to_the_true_optimum(cadence: str, estimator: str) -> None:
    c = centres()
    truth, fast = c.mean(axis=0), np.average(c, axis=0, weights=FAST[cadence])
    wanted, other = (fast, truth) if estimator == "none" else (truth, fast)
    # Steps of 0.04 leave a ripple of a few per cent of the way between the two.
    model = ended(SPEEDS, cadence, estimator)
    assert np.linalg.norm(model - wanted) < 0.1 * np.linalg.norm(wanted - other)


SPHERE: dict[str, Any] = {
    **SPEEDS,
    "task": {
        "kind": "pca", "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 4, "samples": 6, "dimension": 3},
    },
    "algorithm": {"kind": "rfedags", "steps": 1, "step_size": 0.08},
    "seed": 1,
}  # fmt: skip


def leading(weights: tuple[float, ...]) -> Array:
    """The minimiser when clients count by these weights: an eigenvector of their moments."""
    problem: Any = build(from_mapping({**SPHERE, "horizon": {"rounds": 1}})).problem
    z = problem.data.x
    moments = np.einsum("i,ijk,ijl->kl", np.array(weights), z, z)
    vector: Array = np.linalg.eigh(moments)[1][:, -1]
    return vector


@pytest.mark.slow
@pytest.mark.parametrize("cadence", CADENCES)
@pytest.mark.parametrize("estimator", ["none", "inclusive", "past"])
def test_on_the_sphere_too(cadence: str, estimator: str) -> None:
    """Stale vectors are carried to the present point before they are summed."""
    truth, fast = leading((1.0,) * 4), leading(FAST[cadence])
    wanted, other = (fast, truth) if estimator == "none" else (truth, fast)
    model = ended(SPHERE, cadence, estimator, longer=3)
    gap = np.sqrt(1 - (model @ wanted) ** 2)  # a direction has no sign
    assert gap < 0.1 * np.sqrt(1 - (wanted @ other) ** 2)
