"""Conversions between forms of hyperbolic space: inverse to each other, exact, and careful."""

import numpy as np
import pytest

from driftfold.errors import ManifoldError
from driftfold.manifolds import Lorentz
from driftfold.manifolds.hyperbolic_forms import (
    from_ambient,
    from_ball,
    tangent_from_ambient,
    tangent_to_ambient,
    to_ball,
)
from tests.manifolds.points import ambient, points

HYPERBOLOID = Lorentz(4)


def minkowski(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(a[:, 1:] * b[:, 1:], axis=-1) - a[:, 0] * b[:, 0])


def test_there_and_back() -> None:
    s, w = 5 * points(HYPERBOLOID, 9), ambient(HYPERBOLOID, 9)
    np.testing.assert_allclose(from_ball(to_ball(s)), s, rtol=1e-12)
    np.testing.assert_allclose(from_ambient(HYPERBOLOID.embed(s)), s, rtol=1e-12)
    np.testing.assert_allclose(
        tangent_from_ambient(s, tangent_to_ambient(s, w)), w, rtol=0, atol=1e-14
    )


def test_tangent_vectors_are_tangent_and_as_long() -> None:
    s, v, w = points(HYPERBOLOID, 9), ambient(HYPERBOLOID, 9), ambient(HYPERBOLOID, 9, visit=2)
    x, u = HYPERBOLOID.embed(s), tangent_to_ambient(s, w)
    np.testing.assert_allclose(minkowski(x, u), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        minkowski(u, tangent_to_ambient(s, v)), HYPERBOLOID.inner(s, v, w), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(u[:, 1:], HYPERBOLOID.displacement(s, w), rtol=1e-14)


def test_the_ball_is_the_textbooks() -> None:
    b = to_ball(points(HYPERBOLOID, 5))
    square = np.sum(b * b, axis=-1, keepdims=True)
    expected = np.concatenate([1 + square, 2 * b], axis=-1) / (1 - square)
    np.testing.assert_allclose(HYPERBOLOID.embed(from_ball(b)), expected, rtol=1e-13)


def test_scales_rounding_errors_away() -> None:
    x = HYPERBOLOID.embed(points(HYPERBOLOID, 5))
    np.testing.assert_allclose(from_ambient(1.001 * x), x[:, 1:], rtol=1e-12)


def test_refuses_what_is_no_point() -> None:
    with pytest.raises(ManifoldError, match=r"length below 1, got 1\.0"):
        from_ball(np.array([[0.0, 0.1], [0.6, 0.8]]))
    with pytest.raises(ManifoldError, match="length below 1, got nan"):
        from_ball(np.array([np.nan, 0.0]))
    with pytest.raises(ManifoldError, match="x_0 first"):
        from_ambient(np.array([0.75, 0.0, 1.25]))
