"""Two-phase RFedSVRG, and RFedAvg, against references written out by hand."""

from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.algorithms.reference import (
    exponential,
    inverse_qr,
    project,
    qr_retract,
    riemannian_gradient,
)

N, D, R, K, ROUNDS, ALPHA = 5, 7, 2, 3, 4, 0.05
P = [0.9, 0.5, 0.7, 0.4, 0.8]


def table(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "task": {
            "kind": "pca",
            "rank": R,
            "data": {"kind": "gaussian_blocks", "clients": N, "samples": 12, "dimension": D},
        },
        "algorithm": {"kind": kind, "steps": K, "batch": 6, "step_size": ALPHA, **more},
        "participation": {"kind": "bernoulli", "p": P},
        "horizon": {"rounds": ROUNDS},
        "seed": 11,
    }


def batch_moments(problem: Any, client: int, dispatch: int) -> list[Any]:
    """Second-moment matrix of each of a client's K mini-batches."""
    view = problem.view(np.array(client), np.array(dispatch))
    moments = []
    for batch in view.batches(6, K):
        rows = problem.data.x[client]
        rows = rows if batch.indices is None else rows[batch.indices]
        moments.append(rows.T @ (batch.weights[:, None] * rows))
    return moments


def responders(spec: Any, problem: Any, dispatch: int) -> list[int]:
    attendance = spec.participation.attend(problem.fleet)
    everyone = np.arange(N)
    return [int(c) for c in everyone[attendance.responds(everyone, dispatch)]]


@pytest.mark.parametrize("bug", [False, True])
def test_rfedsvrg_is_the_published_algorithm(bug: bool) -> None:
    """And with the bug: the first responder left out, the last one twice, divided by N."""
    spec = from_mapping(table("rfedsvrg", published_bug=bug))
    problem: Any = build(spec).problem
    x = problem.initial_point()
    moved = 0
    for dispatch in range(ROUNDS):
        here = responders(spec, problem, dispatch)
        if not here:
            continue
        moved += 1
        full = [problem.data.x[i].T @ problem.data.x[i] / 12 for i in here]
        slopes = [riemannian_gradient(x, c) for c in full]
        mean = sum(slopes) / len(here)
        if bug:
            mean = sum([*slopes[1:], slopes[-1]]) / N
        ends = []
        for client in here:
            y = x
            for moment in batch_moments(problem, client, dispatch):
                correction = riemannian_gradient(x, moment) - mean
                v = riemannian_gradient(y, moment) - project(y, correction)
                y = qr_retract(y, -ALPHA * v)
            ends.append(inverse_qr(x, y))
        x = exponential(x, sum(ends) / len(here))
    assert moved >= 3
    # Rounding of a few thousand operations near 1; the formulas are the same.
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-12)


def test_rfedavg_is_the_published_algorithm() -> None:
    spec = from_mapping(table("rfedavg"))
    problem: Any = build(spec).problem
    x = problem.initial_point()
    for dispatch in range(ROUNDS):
        here = responders(spec, problem, dispatch)
        ends = []
        for client in here:
            y = x
            for moment in batch_moments(problem, client, dispatch):
                y = qr_retract(y, -ALPHA * riemannian_gradient(y, moment))
            ends.append(inverse_qr(x, y))
        if ends:
            x = exponential(x, sum(ends) / len(here))
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-12)


def test_each_phase_is_sent_and_paid_for() -> None:
    """Two downloads and two uploads a responder and round, of the declared sizes."""
    result = run(from_mapping(table("rfedsvrg")))
    point = D * R * 8
    assert result.counts["accepted"] == result.counts["arrived"]
    contributions = result.counts["accepted"] // 2
    assert result.counts["bytes_up"] == contributions * 2 * point
    assert result.counts["bytes_down"] == contributions * (3 * point + 8)
