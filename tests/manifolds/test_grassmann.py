"""Grassmann maps against pymanopt, SciPy and closed forms."""

import numpy as np
import pymanopt
import pytest
import scipy.linalg

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.manifolds import Grassmann, Sphere
from tests.manifolds.points import STREAM, ambient, points, tangents

SHAPES = pytest.mark.parametrize(("r", "d"), [(1, 2), (1, 6), (2, 3), (5, 30), (7, 9)])
RETRACTIONS = pytest.mark.parametrize(
    "grassmann",
    [
        Grassmann(3, 8, "cayley"),
        Grassmann(3, 8, "qr"),
        Grassmann(3, 8, "polar"),
        Grassmann(3, 8, "exp"),
        Grassmann(3, 8, "cayley", gauge="paper"),
    ],
    ids=repr,
)


@SHAPES
def test_agrees_with_pymanopt(r: int, d: int) -> None:
    grassmann = Grassmann(r, d, "polar", "projection", "paper")
    theirs = pymanopt.manifolds.Grassmann(d, r)
    x = points(grassmann, 5)
    u = tangents(grassmann, x, 0.7)
    v, y, z = ambient(grassmann, 5), grassmann.retract(x, u), grassmann.exp(x, u)
    for i in range(5):
        x_, u_, v_, y_, z_ = (a[i].T for a in (x, u, v, y, z))
        pairs = [
            (grassmann.project(x, v)[i], theirs.projection(x_, v_).T),
            (grassmann.gradient(x, v)[i], theirs.euclidean_to_riemannian_gradient(x_, v_).T),
            (y[i], theirs.retraction(x_, u_).T),
            (grassmann.transport(x, y, u)[i], theirs.transport(x_, y_, u_).T),
            (grassmann.inner(x, u, u)[i], theirs.inner_product(x_, u_, u_)),
            (grassmann.embed(z)[i], grassmann.embed(theirs.exp(x_, u_).T)),
            (grassmann.log(x, z)[i], theirs.log(x_, z_).T),
        ]
        for ours, other in pairs:
            # both sides err by some eps of numbers of size 1
            np.testing.assert_allclose(ours, other, rtol=0, atol=1e-14)
        # their arc cosine loses half the digits of an angle of 0: sqrt(eps) each
        assert grassmann.dist(x, z)[i] == pytest.approx(theirs.dist(x_, z_), abs=1e-7)


@SHAPES
@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.5, 3.0])
def test_exp_and_parallel_transport_are_rotations(r: int, d: int, length: float) -> None:
    grassmann = Grassmann(r, d, "exp", "parallel")
    x = points(grassmann, 4)
    u, v = tangents(grassmann, x, length), tangents(grassmann, x, 1.0, visit=3)
    y = grassmann.exp(x, u)
    short = length < np.pi / 2  # then u is the shortest way, which transport takes
    for i, carried in enumerate(grassmann.transport(x, y, v)):
        turn = scipy.linalg.expm(u[i].T @ x[i] - x[i].T @ u[i])
        np.testing.assert_allclose(y[i].T, turn @ x[i].T, rtol=0, atol=1e-14)
        if short:
            np.testing.assert_allclose(carried.T, turn @ v[i].T, rtol=0, atol=1e-14)


def test_parallel_transport_by_its_textbook_formula() -> None:
    grassmann = Grassmann(3, 9, transport_by="parallel")
    x = points(grassmann, 5)
    u, v = tangents(grassmann, x, 1.2), tangents(grassmann, x, 1.0, visit=3)
    for i, got in enumerate(grassmann.transport(x, grassmann.exp(x, u), v)):
        left, s, right = np.linalg.svd(u[i].T, full_matrices=False)
        turned = -x[i].T @ right.T @ np.diag(np.sin(s)) + left @ np.diag(np.cos(s))
        expected = turned @ left.T @ v[i].T + v[i].T - left @ left.T @ v[i].T
        np.testing.assert_allclose(got.T, expected, rtol=0, atol=5e-15)


@RETRACTIONS
@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.1, 1.0, 1.5])
def test_inverse_retraction(grassmann: Grassmann, length: float) -> None:
    x = points(grassmann, 8)
    u = tangents(grassmann, x, length)
    back = grassmann.inverse_retract(x, grassmann.retract(x, u))
    # the point carries an absolute error of some eps; X^T Y has a condition of at most 2
    np.testing.assert_allclose(back, u, rtol=0, atol=1e-14)
    assert grassmann.off_tangent(x, back).max() < 1e-14


def test_qr_and_polar_reach_the_same_subspaces_and_turn_by_the_arc_tangent() -> None:
    x = points(Grassmann(3, 8), 5)
    u = tangents(Grassmann(3, 8), x, 2.0)
    ends = [Grassmann(3, 8, "qr").retract(x, u), Grassmann(3, 8, "polar").retract(x, u)]
    grassmann = Grassmann(3, 8)
    np.testing.assert_allclose(grassmann.embed(ends[0]), grassmann.embed(ends[1]), atol=4e-15)
    assert grassmann.dist(*ends).max() < 1e-14
    angles = np.arctan(np.linalg.svd(u, compute_uv=False))
    np.testing.assert_allclose(grassmann.dist(x, ends[0]), np.linalg.norm(angles, axis=-1))


@pytest.mark.parametrize("retraction", ["cayley", "polar", "exp"])
def test_these_retractions_return_the_aligned_basis(retraction: str) -> None:
    kinds = {name: Grassmann(3, 8, name) for name in ("cayley", "polar", "exp")}
    x = points(kinds["cayley"], 5)
    c = x @ kinds[retraction].retract(x, tangents(kinds["cayley"], x, 1.0)).mT
    np.testing.assert_allclose(c, c.mT, rtol=0, atol=1e-15)
    assert np.linalg.eigvalsh(c).min() > 0


def test_lines_are_points_of_the_sphere_up_to_sign() -> None:
    lines, sphere = Grassmann(1, 5), Sphere(5)
    x, y = points(lines, 6), points(lines, 6, start=6)
    y = y * np.where(np.sum(x * y, axis=(1, 2)) < 0, -1, 1)[:, None, None]
    np.testing.assert_allclose(lines.log(x, y)[:, 0], sphere.log(x[:, 0], y[:, 0]), atol=1e-15)
    np.testing.assert_allclose(lines.dist(x, -y), sphere.dist(x[:, 0], y[:, 0]), rtol=1e-14)
    u = tangents(lines, x, 1.0)
    expected = sphere.transport(x[:, 0], y[:, 0], u[:, 0])
    np.testing.assert_allclose(lines.transport(x, y, u)[:, 0], expected, rtol=0, atol=2e-15)
    np.testing.assert_allclose(lines.exp(x, u)[:, 0], sphere.exp(x[:, 0], u[:, 0]), atol=1e-15)


@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_gradient_is_the_slope_along_a_retraction(retraction: str) -> None:
    grassmann = Grassmann(3, 8, "cayley" if retraction == "cayley" else "exp")
    x = points(grassmann, 5)
    u = tangents(grassmann, x, 1.0)
    a = ambient(Grassmann(7, 8), 1)[0]
    moment = a.T @ a

    def cost(y: Array) -> Array:
        return np.sum((y @ moment) * y, axis=(-2, -1))

    h = 1e-5
    slope = (cost(grassmann.retract(x, h * u)) - cost(grassmann.retract(x, -h * u))) / (2 * h)
    gradient = grassmann.gradient(x, 2 * x @ moment)
    # central differences err by h^2 = 1e-10 and by eps / h = 1e-11, times numbers up to 50
    np.testing.assert_allclose(grassmann.inner(x, gradient, u), slope, rtol=0, atol=1e-8)


def test_distances_obey_the_triangle_inequality_and_pi_halves() -> None:
    grassmann = Grassmann(3, 6)
    x, y, z = (points(grassmann, 200, start=200 * i) for i in range(3))
    sides = grassmann.dist(x, y) + grassmann.dist(y, z) - grassmann.dist(x, z)
    assert sides.min() > 0
    assert grassmann.dist(x, y).max() < np.pi / 2 * np.sqrt(3)


def test_random_points_are_uniform() -> None:
    grassmann = Grassmann(2, 3)
    x = points(grassmann, 20_000)
    assert grassmann.off_point(x).max() < 1e-14
    # The projector's mean is (r / d) I; its entries vary by less than 0.3. Five standard errors.
    mean = np.einsum("kri,krj->ij", x, x) / len(x)
    assert np.abs(mean - 2 / 3 * np.eye(3)).max() < 5 * 0.3 / np.sqrt(20_000)
    assert np.array_equal(grassmann.random_point(STREAM, np.array([7])), x[7:8])


@pytest.mark.parametrize(("r", "d"), [(0, 3), (3, 3), (4, 3), (-1, 2)])
def test_refuses_impossible_shapes(r: int, d: int) -> None:
    with pytest.raises(SpecError, match=f"1 <= r < d, got r={r}, d={d}"):
        Grassmann(r, d)


def test_refuses_the_published_transport_between_bases_of_qr() -> None:
    with pytest.raises(SpecError, match="choose another retraction, or gauge 'aligned'"):
        Grassmann(2, 5, "qr", "cayley", "paper")
