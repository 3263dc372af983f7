"""The second-order cone problem of RLLS against SciPy, and its quadratic core."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from driftfold.arrays import Floats
from driftfold.label_shift import Inverse, Rlls, rlls_radius
from driftfold.label_shift.nonnegative import nonnegative
from driftfold.label_shift.two_norms import two_norms
from tests.label_shift.sources import a_source, batches


def test_the_radius_published() -> None:
    assert abs(rlls_radius(10, 10_000, 0.05) - 0.105047) < 1e-6
    assert abs(0.01 * rlls_radius(10, 10_000, 0.05) - 0.00105047) < 1e-8


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(0, 200))
def test_quadratics_agree_with_nnls(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(3, size + 2, size)), rng.normal(size=(3, size + 2))
    q, c = a.transpose(0, 2, 1) @ a, np.einsum("kij,ki->kj", a, b)
    x = nonnegative(q, c, rng.random((3, size)) < 0.5)
    for i in range(3):
        # Normal equations lose digits by the squared condition: least values are what agrees.
        best = nnls(a[i], b[i])[1]
        assert (x[i] >= 0).all()
        assert np.linalg.norm(a[i] @ x[i] - b[i]) < best + 1e-9 * (1 + best)


def joints(classes: int, k: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    m = 0.6 * np.eye(classes) + 0.4 * rng.dirichlet(np.ones(classes), (k, classes)).swapaxes(1, 2)
    return m * rng.dirichlet(3 * np.ones(classes)), rng.dirichlet(0.5 * np.ones(classes), k)


@pytest.mark.parametrize("rho", [0.001, 0.03, 0.2])
@pytest.mark.parametrize("classes", [2, 5])
def test_the_cone_problem_agrees_with_scipy(classes: int, rho: float) -> None:
    joint, g = joints(classes, 3, seed=classes)
    for c, h, w in zip(joint, g, two_norms(joint, g, rho), strict=True):

        def objective(w: Floats, c: Floats = c, h: Floats = h) -> float:
            return float(np.linalg.norm(c @ w - h) + rho * np.linalg.norm(w - 1))

        start = np.full(classes, 0.9)
        best = minimize(
            objective, start, bounds=[(0, None)] * classes, method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        # SciPy's differences stop short of kinks: it is never better, and at most so much worse.
        assert objective(w) <= best.fun + 1e-9
        assert objective(w) >= best.fun - 1e-3


@settings(max_examples=10)
@given(st.integers(2, 6), st.sampled_from([0.003, 0.02, 0.1]), st.integers(0, 100))
def test_no_direction_leads_down(classes: int, rho: float, seed: int) -> None:
    joint, g = joints(classes, 2, seed)
    rng = np.random.default_rng(seed)
    for c, h, w in zip(joint, g, two_norms(joint, g, rho), strict=True):
        trials = np.maximum(w + 10.0 ** rng.uniform(-6, 0, (200, 1)) * rng.normal(
            size=(200, classes)), 0)  # fmt: skip
        values = np.linalg.norm(trials @ c.T - h, axis=1) + rho * np.linalg.norm(trials - 1, axis=1)
        value = np.linalg.norm(c @ w - h) + rho * np.linalg.norm(w - 1)
        assert values.min() > value - 1e-12  # the problem is convex: no trial is better


def test_a_rho_beyond_all_evidence_leaves_the_prior() -> None:
    source = a_source()
    said = batches(np.array([[0.0, 0.0, 0.0, 1.0]]), 50, 2)
    # the slope of ||C w - g|| at w = 1 is at most the norm of C, below 1
    assert np.array_equal(Rlls(scale=100.0).estimate(None, source, said)[0][0], source.prior)


def test_it_errs_less_than_the_inverse_where_classes_are_confused() -> None:
    source = a_source(classes=8, each=100, seed=3)
    shares = np.random.default_rng(1).dirichlet(0.3 * np.ones(8), 60)
    said = batches(shares, 30, 4)
    errors = {
        type(rule): np.abs(rule.estimate(None, source, said)[0] - shares).sum(axis=1).mean()
        for rule in (Rlls(), Inverse("none"))
    }
    assert errors[Rlls] < 0.9 * errors[Inverse]
