"""The canonical metric: inner product, gradient, projection and exponential."""

import geoopt
import numpy as np
import pytest
import scipy.linalg
import torch

from driftfold.arrays import Array
from driftfold.manifolds import Stiefel
from tests.manifolds.digits import exponential, turned
from tests.manifolds.points import ambient, points, tangents

SHAPES = pytest.mark.parametrize(("r", "d"), [(1, 6), (2, 3), (4, 4), (5, 40)])


def both(r: int, d: int, length: float = 0.7) -> tuple[Stiefel, Array, Array]:
    stiefel = Stiefel(r, d, metric="canonical")
    x = points(stiefel, 5)
    return stiefel, x, tangents(stiefel, x, length)


@SHAPES
def test_inner_product_by_its_definition(r: int, d: int) -> None:
    stiefel, x, u = both(r, d)
    v = tangents(stiefel, x, 1.0, visit=3)
    for one, a, b, got in zip(x, u, v, stiefel.inner(x, u, v), strict=True):
        expected = np.trace(a @ (np.eye(d) - one.T @ one / 2) @ b.T)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)


@SHAPES
def test_agrees_with_geoopt_where_it_is_right(r: int, d: int) -> None:
    stiefel, x, u = both(r, d)
    theirs, g = geoopt.CanonicalStiefel(), ambient(stiefel, 5)
    x_, u_, g_ = (torch.asarray(a).mT for a in (x, u, g))
    gradient = theirs.egrad2rgrad(x_, g_).mT.numpy()
    np.testing.assert_allclose(stiefel.gradient(x, g), gradient, rtol=0, atol=1e-13)
    inner = theirs.inner(x_, u_, u_).numpy().reshape(-1)
    np.testing.assert_allclose(stiefel.inner(x, u, u), inner, rtol=0, atol=1e-14)


@SHAPES
def test_projection_leaves_tangent_vectors_and_is_orthogonal(r: int, d: int) -> None:
    stiefel, x, u = both(r, d)
    v = ambient(stiefel, 5)
    projected = stiefel.project(x, v)
    np.testing.assert_allclose(stiefel.project(x, u), u, rtol=0, atol=1e-15)
    np.testing.assert_allclose(stiefel.project(x, projected), projected, rtol=0, atol=1e-14)
    # What is taken away is orthogonal to tangent vectors in both metrics.
    for metric in (stiefel, Stiefel(r, d)):
        assert np.abs(metric.inner(x, v - projected, u)).max() < 2e-15 * d


@pytest.mark.parametrize("metric", ["euclidean", "canonical"])
def test_gradient_is_the_slope_along_a_retraction(metric: str) -> None:
    stiefel = Stiefel(3, 8, "cayley", "canonical" if metric == "canonical" else "euclidean")
    x = points(stiefel, 5)
    u = tangents(stiefel, x, 1.0)
    a = ambient(stiefel, 5, visit=9)
    weights = np.array([1.0, 2.0, 3.0])[:, None]

    def cost(y: Array) -> Array:  # a Brockett function with a linear term: nowhere degenerate
        return np.sum(weights * y * np.roll(y, 1, -1) + a * y, axis=(-2, -1))

    g = weights * (np.roll(x, 1, -1) + np.roll(x, -1, -1)) + a
    h = 1e-5
    slope = (cost(stiefel.retract(x, h * u)) - cost(stiefel.retract(x, -h * u))) / (2 * h)
    # central differences err by h^2 = 1e-10 and by eps / h = 1e-11, times numbers up to 50
    np.testing.assert_allclose(
        stiefel.inner(x, stiefel.gradient(x, g), u), slope, rtol=0, atol=1e-8
    )


@SHAPES
@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.5, 3.0])
def test_exp_is_the_matrix_exponential(r: int, d: int, length: float) -> None:
    stiefel, x, u = both(r, d, length)
    for one, vector, got in zip(x, u, stiefel.exp(x, u), strict=True):
        x_, u_ = one.T, vector.T
        p = np.eye(d) - x_ @ x_.T / 2
        w = p @ u_ @ x_.T - x_ @ u_.T @ p
        np.testing.assert_allclose(got.T, scipy.linalg.expm(w) @ x_, rtol=0, atol=1e-13)


@pytest.mark.parametrize("length", [1e-12, 1.0, 11.0, 1e3, 1e6])
def test_exp_at_forty_digits(length: float) -> None:
    stiefel, x, u = both(3, 7, length)
    got = stiefel.exp(x, u)
    for i in range(2):
        expected = turned(exponential, x[i], u[i], x[i])
        # some eps, and an angle of size |u| is known to eps |u|
        np.testing.assert_allclose(got[i], expected, rtol=0, atol=2e-15 * (1 + length))
    assert stiefel.off_point(got).max() < 5e-15


def test_geodesics_have_constant_speed_and_no_covariant_acceleration() -> None:
    # x'' + x' x'^T x + x ((x^T x')^2 + x'^T x') = 0 in columns (Edelman, Arias, Smith, eq. 2.41)
    stiefel, x, u = both(3, 7, 1.0)
    h = 1e-3
    at = [stiefel.exp(x, t * u) for t in (0.7 - h, 0.7, 0.7 + h)]
    velocity = (at[2] - at[0]) / (2 * h)
    acceleration = (at[2] - 2 * at[1] + at[0]) / h**2
    y, v = at[1], velocity
    a = v @ y.mT
    residual = acceleration + (y @ v.mT) @ v + (a @ a + v @ v.mT) @ y
    # central differences err by h^2 = 1e-6 times derivatives of order 1
    np.testing.assert_allclose(stiefel.norm(y, v), 1, atol=1e-5)
    assert np.abs(residual).max() < 1e-5


def test_square_points_have_half_the_euclidean_metric() -> None:
    # r = d: the orthogonal group, where U = A X and the second term is half of the first.
    stiefel, x, u = both(4, 4)
    np.testing.assert_allclose(stiefel.inner(x, u, u), Stiefel(4, 4).inner(x, u, u) / 2, rtol=1e-14)
