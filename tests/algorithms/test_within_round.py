"""Step sizes and mini-batches that change within a round, against loops written out by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.batch_size import Growing, PerStep
from tests.algorithms.reference import (
    exponential,
    inverse_qr,
    project,
    qr_retract,
    riemannian_gradient,
)

N, D, R, K, ROUNDS, SAMPLES = 5, 7, 2, 4, 6, 12
P = [0.9, 0.5, 0.7, 0.4, 0.8]
FACTORS = (1.0, 0.5, 2.0)  # the last one is for the fourth step, too
STEP = {
    "kind": "per_step",
    "rule": {"kind": "decay", "alpha": 0.4, "shift": 2.0},
    "factors": list(FACTORS),
}
BATCHES = {
    "steps": ({"kind": "per_step", "sizes": [2, 5, 0.75]}, PerStep((2, 5, 0.75))),
    "rounds": ({"kind": "growing", "first": 2, "factor": 2.0, "period": 2}, Growing(2, 2.0, 2)),
}
SIZES: dict[str, Callable[[int, int], int]] = {
    "steps": lambda t, k: (2, 5, 9, 9)[k],
    "rounds": lambda t, k: min(2 * 2 ** (t // 2), SAMPLES),
}
Local = Callable[[Any, list[Any], list[float]], Any]


def alphas(t: int) -> list[float]:
    return [0.4 / (2 + t + 1) * FACTORS[min(k, 2)] for k in range(K)]


def stream(x: Any, moments: list[Any], sizes: list[float]) -> Any:
    """zeta = sum_k T_{x_k -> x}(alpha_k g_k), the step that leads from x."""
    y, zeta = x, np.zeros_like(x)
    for moment, alpha in zip(moments, sizes, strict=True):
        step = alpha * riemannian_gradient(y, moment)
        zeta += project(x, step)
        y = qr_retract(y, -step)
    return -zeta


def end(x: Any, moments: list[Any], sizes: list[float]) -> Any:
    """The inverse retraction of the last point."""
    y = x
    for moment, alpha in zip(moments, sizes, strict=True):
        y = qr_retract(y, -alpha * riemannian_gradient(y, moment))
    return inverse_qr(x, y)


def reference(spec: Any, name: str, local: Local, move: Any) -> Any:
    """One client after the other; the sizes of what was drawn are held against the rule's."""
    problem: Any = build(spec).problem
    attendance = spec.participation.attend(problem.fleet)
    x = problem.initial_point()
    for t in range(ROUNDS):
        here = np.flatnonzero(attendance.responds(np.arange(N), t)).tolist()
        ways = []
        for i in here:
            view = problem.view(np.array(i), np.array(t))
            moments = []
            for k, batch in enumerate(view.batches(BATCHES[name][1], K, np.array(t))):
                rows = problem.data.x[i]
                rows = rows if batch.indices is None else rows[batch.indices]
                rows = rows[batch.weights > 0]
                assert len(rows) == SIZES[name](t, k)
                moments.append(rows.T @ rows / len(rows))
            ways.append(local(x, moments, alphas(t)))
        if ways:
            x = move(x, sum(ways) / len(here))
    return x


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize(
    ("kind", "local", "move"),
    [("rfedags", stream, qr_retract), ("rfedavg", end, exponential)],
    ids=["rfedags", "rfedavg"],
)
def test_sizes_that_change_within_a_round(kind: str, local: Local, move: Any, name: str) -> None:
    """alpha_{t,k} and B_{t,k}: a run is the loop with these numbers, to rounding."""
    data = {"kind": "gaussian_blocks", "clients": N, "samples": SAMPLES, "dimension": D}
    algorithm = {"kind": kind, "steps": K, "batch": BATCHES[name][0], "step_size": STEP}
    spec = from_mapping(
        {
            "task": {"kind": "pca", "rank": R, "data": data},
            "algorithm": algorithm,
            "participation": {"kind": "bernoulli", "p": P},
            "horizon": {"rounds": ROUNDS},
            "seed": 11,
        }
    )
    x = reference(spec, name, local, move)
    model = run(spec).model
    np.testing.assert_allclose(model, x, rtol=0, atol=1e-12)
    steady: Any = spec.algorithm
    plain = run(replace(spec, algorithm=replace(steady, step_size=0.1)))
    assert np.abs(plain.model - x).max() > 1e-3  # the sizes matter
