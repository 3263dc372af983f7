"""RFedAGS against closed forms: T1 and T2 of its theory, on flat space and Stiefel."""

from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.base import Problem
from tests.algorithms.reference import (
    canonical_gradient,
    cayley_retract,
    polar_retract,
    qr_retract,
    riemannian_gradient,
)

PCA: dict[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 2,
        "data": {"kind": "gaussian_blocks", "clients": 6, "samples": 20, "dimension": 8},
    },
    "horizon": {"rounds": 5},
    "seed": 3,
}
SOFTMAX: dict[str, Any] = {
    "task": {
        "kind": "softmax_regression",
        "data": {"kind": "gaussian_classes", "classes": 3, "features": 4, "samples": 120},
        "clients": 6,
    },
    "participation": {"kind": "bernoulli", "p": 0.6},
    "horizon": {"rounds": 6},
}


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("batch", [1, 7, 0.5, "full"])
def test_in_flat_space_streams_average_to_fedavg(steps: int, batch: Any) -> None:
    """T1. The stream is x_t minus the end point, so the two means differ by rounding only."""
    local = {"steps": steps, "batch": batch, "step_size": 0.3}
    streams = run(from_mapping({**SOFTMAX, "algorithm": {"kind": "rfedags", **local}}))
    models = run(from_mapping({**SOFTMAX, "algorithm": {"kind": "fedavg", **local}}))
    tangent = run(from_mapping({**SOFTMAX, "algorithm": {"kind": "rfedavg", **local}}))
    np.testing.assert_allclose(streams.model, models.model, rtol=0, atol=1e-12)
    np.testing.assert_allclose(tangent.model, models.model, rtol=0, atol=1e-12)
    assert streams.event_digest == models.event_digest


def test_so_they_do_with_sizes_that_change_within_a_round() -> None:
    """T1 with alpha_{t,k} and B_{t,k}."""
    step_size = {"kind": "per_step", "rule": {"kind": "decay", "alpha": 0.9}, "factors": [1, 0.5]}
    local = {"steps": 3, "batch": {"kind": "per_step", "sizes": [2, 0.5]}, "step_size": step_size}
    ends = [
        run(from_mapping({**SOFTMAX, "algorithm": {"kind": kind, **local}})).model
        for kind in ("rfedags", "fedavg", "rfedavg", "rfed_frechet")
    ]
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=0, atol=1e-12)


RETRACTIONS = {"qr": qr_retract, "polar": polar_retract, "cayley": cayley_retract}
GRADIENTS = {"euclidean": riemannian_gradient, "canonical": canonical_gradient}
STIEFEL = pytest.mark.parametrize(
    ("retraction", "metric"), [(by, of) for by in RETRACTIONS for of in GRADIENTS]
)


def stiefel_pca(retraction: str, metric: str, **algorithm: Any) -> dict[str, Any]:
    manifold = {"kind": "stiefel", "r": 2, "d": 8, "retraction": retraction, "metric": metric}
    task = {**PCA["task"], "manifold": manifold}
    return {**PCA, "task": task, "algorithm": {"kind": "rfedags", **algorithm}}


@STIEFEL
def test_one_full_step_of_all_is_gradient_descent(retraction: str, metric: str) -> None:
    """T2, K = 1 and B = n: centralised Riemannian gradient descent, by independent formulas."""
    spec = from_mapping(stiefel_pca(retraction, metric, steps=1, step_size=0.1))
    problem = build(spec).problem
    retract, gradient = RETRACTIONS[retraction], GRADIENTS[metric]
    x = problem.initial_point()
    for _ in range(5):
        x = retract(x, -0.1 * gradient(x, _pooled_moment(problem)))
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-13)


@STIEFEL
def test_one_batch_of_all_is_sgd_on_the_pooled_batch(retraction: str, metric: str) -> None:
    """T2, K = 1 and B < n: one step along the mean over all the rows drawn."""
    table = stiefel_pca(retraction, metric, steps=1, batch=5, step_size=0.1)
    spec = from_mapping({**table, "horizon": {"rounds": 1}})
    problem: Any = build(spec).problem
    everyone = np.arange(6)
    (batch,) = problem.view(everyone, np.zeros(6, dtype=int)).batches(5, 1)
    assert batch.indices.shape[-1] == 5 if batch.indices is not None else True
    moment = np.zeros((8, 8))
    for i in everyone:
        rows = problem.data.x[i] if batch.indices is None else problem.data.x[i][batch.indices[i]]
        weights = batch.weights[i]
        assert np.count_nonzero(weights) == 5
        moment += rows.T @ (weights[:, None] * rows) / 6
    x = problem.initial_point()
    x = RETRACTIONS[retraction](x, -0.1 * GRADIENTS[metric](x, moment))
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-13)


def _pooled_moment(problem: Problem) -> Any:
    data: Any = getattr(problem, "data").x  # noqa: B009 - the PCA problem's own attribute
    rows = data.reshape(-1, data.shape[-1])
    return rows.T @ rows / len(rows)
