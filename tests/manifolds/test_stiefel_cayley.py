"""Cayley maps against the d x d matrices they stand for, at 40 digits where it is hard."""

import numpy as np
import pytest

from driftfold.arrays import Array, Floats
from driftfold.manifolds import Stiefel
from tests.manifolds.digits import cayley, turned
from tests.manifolds.horizontal import step
from tests.manifolds.points import points, tangents

SHAPES = pytest.mark.parametrize(("r", "d"), [(1, 2), (1, 6), (3, 7), (4, 4), (3, 4), (5, 40)])


def manifold(r: int, d: int) -> Stiefel:
    return Stiefel(r, d, "cayley", "canonical", "cayley")


def dense(x: Array, u: Array) -> Floats:
    """The orthogonal Q = (I - W/2)^-1 (I + W/2), by its definition."""
    x, u = x.T, u.T
    p = np.eye(len(x)) - x @ x.T / 2
    w = p @ u @ x.T - x @ u.T @ p
    q: Floats = np.linalg.solve(np.eye(len(x)) - w / 2, np.eye(len(x)) + w / 2)
    return q


@SHAPES
@pytest.mark.parametrize("length", [1e-8, 0.5, 3.0])
def test_is_the_cayley_transform(r: int, d: int, length: float) -> None:
    stiefel = manifold(r, d)
    x = points(stiefel, 4)
    u, v = tangents(stiefel, x, length), tangents(stiefel, x, 1.0, visit=3)
    y = stiefel.retract(x, u)
    for i, carried in enumerate(stiefel.transport(x, y, v)):
        q = dense(x[i], u[i])
        # a few eps, and the reference's solve of condition |u|
        np.testing.assert_allclose(y[i].T, q @ x[i].T, rtol=0, atol=2e-15)
        np.testing.assert_allclose(carried.T, q @ v[i].T, rtol=0, atol=6e-15)


@SHAPES
@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.1, 1.0, 5.0])
def test_inverse(r: int, d: int, length: float) -> None:
    stiefel = manifold(r, d)
    x = points(stiefel, 8)
    u = tangents(stiefel, x, length)
    back = stiefel.inverse_retract(x, stiefel.retract(x, u))
    # The point is rounded; I + x y^T has the condition 1 + |u|^2 / 4.
    tolerance = 2e-15 * (1 + length) * (1 + length**2)
    np.testing.assert_allclose(back, u, rtol=0, atol=tolerance)
    assert stiefel.off_tangent(x, back).max() < tolerance


@pytest.mark.parametrize("length", [1e-8, 1e-12])
def test_inverse_of_a_tiny_step_keeps_the_digits_the_points_have(length: float) -> None:
    # Beside rows of the identity a double holds a displacement to full relative precision.
    stiefel, x = manifold(3, 8), np.eye(3, 8)
    u = tangents(stiefel, x[None], length)[0]
    np.testing.assert_allclose(
        stiefel.inverse_retract(x, stiefel.retract(x, u))[:, 3:], u[:, 3:], rtol=1e-13
    )


@pytest.mark.parametrize("length", [1e-12, 1.0, 9.0, 11.0, 1e3, 1e6])
def test_forty_digits(length: float) -> None:
    stiefel = manifold(3, 8)
    x = points(stiefel, 1)
    for one, u in ((x[0], tangents(stiefel, x, length)[0]), step((0.0, 0.0, length))):
        end = stiefel.retract(one, u)
        # The short way squares u; the long one only meets the rounding of u itself.
        lost = 1e-15 + 2e-16 * (length**2 if length < 10 else length)
        np.testing.assert_allclose(end, turned(cayley, one, u, one), rtol=0, atol=lost)
        assert stiefel.off_point(end) < 3e-14


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("length", [9.0, 11.0, 1e3, 1e6, 1e12])
def test_long_steps_of_any_rank_stay_on_the_manifold(length: float, rank: int) -> None:
    stiefel = manifold(3, 12)
    x = points(stiefel, 4)
    u = tangents(stiefel, x, 1.0)
    u = u - u @ x.mT @ x
    u[:, rank:] = 0
    assert stiefel.off_point(stiefel.retract(x, length * u)).max() < 3e-14


def test_a_zero_step_is_exact() -> None:
    stiefel = manifold(4, 9)
    x = points(stiefel, 3)
    assert np.array_equal(stiefel.retract(x, 0 * x), x)
    assert np.array_equal(stiefel.inverse_retract(x, x), 0 * x)


@pytest.mark.parametrize("metric", ["euclidean", "canonical"])
@pytest.mark.parametrize("length", [1e-12, 1e-4, 0.5, 2.0])
def test_transport_keeps_both_metrics(metric: str, length: float) -> None:
    canonical = Stiefel(3, 8, metric="canonical" if metric == "canonical" else "euclidean")
    stiefel = Stiefel(3, 8, "qr", canonical.metric, "cayley")
    x = points(stiefel, 6)
    y = stiefel.retract(x, tangents(stiefel, x, length))
    u, v = (tangents(stiefel, x, 1.0, visit=visit) for visit in (3, 4))
    there = [stiefel.transport(x, y, w) for w in (u, v)]
    change = stiefel.inner(y, *there) - stiefel.inner(x, u, v)
    assert np.abs(change).max() < 1e-14
    # and it undoes itself on the way back
    np.testing.assert_allclose(stiefel.transport(y, x, there[0]), u, rtol=0, atol=2e-14)


def test_no_inverse_is_nan_for_that_item_only() -> None:
    stiefel = manifold(2, 6)
    x = np.broadcast_to(np.eye(2, 6), (5, 2, 6))
    y = stiefel.retract(x, tangents(stiefel, x, 0.4))
    expected = stiefel.inverse_retract(x, y)
    y[2] = -x[2]
    got = stiefel.inverse_retract(x, y)
    assert np.isnan(got[2]).all()
    assert np.delete(got, 2, 0).tobytes() == np.delete(expected, 2, 0).tobytes()


def test_a_broken_step_spoils_only_itself() -> None:
    stiefel = manifold(3, 6)
    x = points(stiefel, 6)
    u = tangents(stiefel, x, 0.4)
    u[4] *= 1e3
    expected = stiefel.retract(x, u)
    for broken in (np.nan, np.inf):
        u[2, 1, 1] = broken
        got = stiefel.retract(x, u)
        assert np.isnan(got[2]).any()
        assert np.delete(got, 2, 0).tobytes() == np.delete(expected, 2, 0).tobytes()
