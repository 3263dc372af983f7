"""The variance-reduced stream of RFedAGS, against a loop written out by hand."""

from typing import Any

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.algorithms.reference import project, qr_retract, riemannian_gradient
from tests.algorithms.test_rfedsvrg import ALPHA, ROUNDS, batch_moments, responders, table


def stream(x: Any, full: Any, moments: list[Any]) -> Any:
    """zeta = sum_k alpha T_{x_k -> x}(v_k) of v_k = g_k - T_{x -> x_k}(grad f_B(x) - grad f(x))."""
    y, zeta = x, np.zeros_like(x)
    for moment in moments:
        off = riemannian_gradient(x, moment) - riemannian_gradient(x, full)
        v = riemannian_gradient(y, moment) - project(y, off)
        zeta += ALPHA * project(x, v)
        y = qr_retract(y, -ALPHA * v)
    return zeta


def test_it_is_the_formula() -> None:
    spec = from_mapping(table("rfedags", variance_reduced=True))
    problem: Any = build(spec).problem
    x = problem.initial_point()
    for t in range(ROUNDS):
        here = responders(spec, problem, t)
        rows = problem.data.x
        ways = [stream(x, rows[i].T @ rows[i] / 12, batch_moments(problem, i, t)) for i in here]
        x = qr_retract(x, -sum(ways) / len(here)) if here else x
    # Rounding of a few thousand operations near 1; the formulas are the same.
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-12)
    plain = run(from_mapping(table("rfedags"))).model
    assert np.abs(plain - x).max() > 1e-3


@pytest.mark.parametrize("batch", [6, "full"], ids=str)
def test_one_step_is_along_the_full_gradient(batch: Any) -> None:
    """With K = 1 whatever was drawn cancels."""
    one = table("rfedags", variance_reduced=True)
    one["algorithm"] |= {"steps": 1, "batch": batch}
    full = table("rfedags")
    full["algorithm"] |= {"steps": 1, "batch": "full"}
    got, wanted = (run(from_mapping(spec)).model for spec in (one, full))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-13)
