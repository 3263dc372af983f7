"""Stiefel maps against SciPy, pymanopt and the formulas of the literature in columns."""

import numpy as np
import pymanopt
import pytest
import scipy.linalg

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.manifolds import Stiefel
from tests.manifolds.points import STREAM, ambient, points, tangents

SHAPES = pytest.mark.parametrize(("r", "d"), [(1, 6), (2, 3), (4, 4), (5, 40), (7, 9)])


def both(r: int, d: int, count: int = 6) -> tuple[Stiefel, Array, Array]:
    stiefel = Stiefel(r, d)
    x = points(stiefel, count)
    return stiefel, x, tangents(stiefel, x, 0.7)


@SHAPES
def test_agrees_with_pymanopt(r: int, d: int) -> None:
    stiefel, x, u = both(r, d)
    theirs = pymanopt.manifolds.Stiefel(d, r, retraction="qr")
    polar = pymanopt.manifolds.Stiefel(d, r, retraction="polar")
    v = ambient(stiefel, len(x))
    y = stiefel.retract(x, u)
    for i in range(len(x)):
        pairs = [
            (stiefel.project(x, v)[i], theirs.projection(x[i].T, v[i].T).T),
            (
                stiefel.gradient(x, v)[i],
                theirs.euclidean_to_riemannian_gradient(x[i].T, v[i].T).T,
            ),
            (y[i], theirs.retraction(x[i].T, u[i].T).T),
            (Stiefel(r, d, "polar").retract(x, u)[i], polar.retraction(x[i].T, u[i].T).T),
            (stiefel.transport(x, y, u)[i], theirs.transport(x[i].T, y[i].T, u[i].T).T),
            (stiefel.inner(x, u, v)[i], theirs.inner_product(x[i].T, u[i].T, v[i].T)),
            (stiefel.exp(x, u)[i], theirs.exp(x[i].T, u[i].T).T),
        ]
        for ours, other in pairs:
            # both sides err by some eps of numbers of size 1
            np.testing.assert_allclose(ours, other, rtol=0, atol=1e-13)


@SHAPES
@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.5, 3.0])
def test_exp_is_the_matrix_exponential(r: int, d: int, length: float) -> None:
    stiefel = Stiefel(r, d)
    x = points(stiefel, 4)
    u = tangents(stiefel, x, length)
    for one, vector, got in zip(x, u, stiefel.exp(x, u), strict=True):
        x_, u_ = one.T, vector.T
        a, s = x_.T @ u_, u_.T @ u_
        block = scipy.linalg.expm(np.block([[a, -s], [np.eye(r), a]]))
        expected = np.hstack([x_, u_]) @ block[:, :r] @ scipy.linalg.expm(-a)
        # the reference's own block is not normal and grows with |u|
        np.testing.assert_allclose(got.T, expected, rtol=0, atol=1e-12)


def test_exp_of_long_vectors_stays_on_the_manifold() -> None:
    stiefel = Stiefel(4, 12)
    x = points(stiefel, 5)
    for length in (10.0, 1e3):
        assert stiefel.off_point(stiefel.exp(x, tangents(stiefel, x, length))).max() < 1e-13


def test_exp_of_a_vector_of_low_rank() -> None:
    stiefel = Stiefel(3, 8)
    x = points(stiefel, 1)[0]
    u = np.zeros((3, 8))
    for rows in ([], [1], [0, 2]):
        u[:] = 0
        u[rows] = (np.eye(8) - x.T @ x)[rows]
        turned = stiefel.exp(x, u)
        assert stiefel.off_point(turned) < 1e-14
        still = [i for i in range(3) if i not in rows]
        np.testing.assert_allclose(turned[still], x[still], rtol=0, atol=1e-15)


def test_geodesics_have_constant_speed_and_no_tangential_acceleration() -> None:
    stiefel = Stiefel(3, 7)
    x = points(stiefel, 6)
    u = tangents(stiefel, x, 1.0)
    h = 1e-3
    at = [stiefel.exp(x, t * u) for t in (0.7 - h, 0.7, 0.7 + h)]
    velocity = (at[2] - at[0]) / (2 * h)
    acceleration = (at[2] - 2 * at[1] + at[0]) / h**2
    # central differences err by h^2 = 1e-6 times derivatives of order 1
    np.testing.assert_allclose(stiefel.norm(at[1], velocity), 1, atol=1e-5)
    assert np.abs(stiefel.project(at[1], acceleration)).max() < 1e-5


@SHAPES
@pytest.mark.parametrize("retraction", ["qr", "polar"])
@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.1, 0.6])
def test_inverse_retraction(r: int, d: int, retraction: str, length: float) -> None:
    stiefel = Stiefel(r, d, "qr" if retraction == "qr" else "polar")
    x = points(stiefel, 8)
    u = tangents(stiefel, x, length)
    back = stiefel.inverse_retract(x, stiefel.retract(x, u))
    # the point itself carries an absolute error of some eps
    np.testing.assert_allclose(back, u, rtol=0, atol=2e-14)
    assert stiefel.off_tangent(x, back).max() < 2e-14


def test_inverse_retraction_is_that_of_columns() -> None:
    stiefel, x, u = both(4, 9, 3)
    y = stiefel.retract(x, u)
    for one, other, vector in zip(x, y, stiefel.inverse_retract(x, y), strict=True):
        m, a = one @ other.T, other @ (one + vector).T  # U + X = Y A
        np.testing.assert_allclose(np.tril(a, -1), 0, atol=1e-14)
        np.testing.assert_allclose(m @ a + a.T @ m.T, 2 * np.eye(4), atol=1e-14)


@pytest.mark.parametrize("retraction", ["qr", "polar"])
def test_no_inverse_retraction_is_nan_for_that_item_only(retraction: str) -> None:
    stiefel = Stiefel(3, 6, "qr" if retraction == "qr" else "polar")
    x = points(stiefel, 5)
    y = stiefel.retract(x, tangents(stiefel, x, 0.4))
    expected = stiefel.inverse_retract(x, y)
    y[2] = -x[2]
    got = stiefel.inverse_retract(x, y)
    assert np.isnan(got[2]).all()
    assert np.delete(got, 2, 0).tobytes() == np.delete(expected, 2, 0).tobytes()


def test_random_points_are_uniform() -> None:
    stiefel = Stiefel(2, 3)
    x = points(stiefel, 20_000)
    assert stiefel.off_point(x).max() < 1e-14
    # Haar: mean 0, and E x x^T entrywise 1/d; five standard errors
    assert np.abs(x.mean(0)).max() < 5 / np.sqrt(3 * 20_000)
    second = np.einsum("kri,krj->rij", x, x) / len(x)
    assert np.abs(second - np.eye(3) / 3).max() < 5 * 0.3 / np.sqrt(20_000)
    assert np.array_equal(stiefel.random_point(STREAM, np.array([7])), x[7:8])


def test_off_tangent_measures_the_normal_part() -> None:
    stiefel, x, u = both(3, 8)
    s = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.5, -1.0]])
    np.testing.assert_allclose(
        stiefel.off_tangent(x, u + 1e-3 * s @ x), 1e-3 * np.linalg.norm(s), rtol=1e-9
    )
    np.testing.assert_allclose(stiefel.off_point(1.1 * x), 0.21 * np.sqrt(3), rtol=1e-12)


@pytest.mark.parametrize(("r", "d"), [(0, 3), (4, 3), (-1, 2)])
def test_refuses_impossible_shapes(r: int, d: int) -> None:
    with pytest.raises(SpecError, match=f"1 <= r <= d, got r={r}, d={d}"):
        Stiefel(r, d)
