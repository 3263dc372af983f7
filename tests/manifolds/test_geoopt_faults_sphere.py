"""What geoopt's sphere gets wrong, which is why ours is our own; each test fails when it mends it.

Its distance clamps the inner product of two points to 1 - 1e-7 (1e-4 in single precision).
"""

import math

import geoopt
import numpy as np
import pytest
import torch

from driftfold.manifolds import Sphere

THEIRS, OURS = geoopt.Sphere(), Sphere(3)
X = np.array([1.0, 0.0, 0.0])


def at(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle), 0.0])


@pytest.mark.parametrize(("dtype", "wrong"), [(np.float64, 4.47e-4), (np.float32, 1.41e-2)])
def test_equal_points(dtype: type, wrong: float) -> None:
    x = torch.tensor(X.astype(dtype))
    assert THEIRS.dist(x, x).item() == pytest.approx(wrong, rel=0.01)
    assert OURS.dist(X.astype(dtype), X.astype(dtype)) == 0


@pytest.mark.parametrize(("angle", "times"), [(1e-6, 447), (1e-8, 4472)])
def test_logarithm_of_a_near_point(angle: float, times: float) -> None:
    log = THEIRS.logmap(torch.tensor(X), torch.tensor(at(angle)))
    assert log.norm().item() > 0.9 * times * angle
    assert np.linalg.norm(OURS.log(X, at(angle))) == pytest.approx(angle, rel=1e-12)


def test_near_the_antipode() -> None:
    angle = math.pi - 1e-6
    assert THEIRS.dist(torch.tensor(X), torch.tensor(at(angle))).item() < angle - 4e-4
    assert OURS.dist(X, at(angle)) == pytest.approx(angle, rel=1e-15)
    angle = math.pi - 1e-8
    log = THEIRS.logmap(torch.tensor(X), torch.tensor(at(angle)))
    assert log.norm().item() < 0.32
    assert np.linalg.norm(OURS.log(X, at(angle))) == pytest.approx(angle, rel=1e-15)


def test_gradient_of_the_squared_distance() -> None:
    y = torch.tensor(at(1e-4), requires_grad=True)
    THEIRS.dist(torch.tensor(X), y).square().backward()
    assert y.grad is not None
    assert y.grad.norm().item() == 0
    gradient = -2 * OURS.log(at(1e-4), X)
    assert np.linalg.norm(gradient) == pytest.approx(2e-4, rel=1e-12)


def test_derivative_of_the_exponential_at_zero() -> None:
    u = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    THEIRS.expmap(torch.tensor(X), u).sum().backward()
    assert u.grad is not None
    assert u.grad.isnan().any()
    step = 1e-7 * np.array([0.0, 0.6, 0.8])
    np.testing.assert_allclose((OURS.exp(X, step) - X)[1:], step[1:], rtol=1e-14)
