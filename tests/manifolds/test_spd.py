"""SPD maps against SciPy and pymanopt, and at repeated eigenvalues, zero vectors, tiny steps."""

import math
from collections.abc import Callable

import numpy as np
import pymanopt
import pytest
import scipy.linalg

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.manifolds import Spd
from driftfold.manifolds.spd import factor
from tests.manifolds.points import ambient, points, tangents

SIZES = pytest.mark.parametrize("n", [1, 2, 5])
DEGENERATE = {
    "identity": np.eye(4),
    "pairs": np.diag([1.0, 1.0, 2.0, 2.0]) ** 0.5,
    "multiple": 3.0 * np.eye(4),
    "near the identity": np.eye(4) + 1e-9 * np.ones((4, 4)),
}


def matrix(spd: Spd, x: Array, u: Array) -> Array:
    """Tangent matrix A S A^T."""
    return x @ u @ x.mT


def of(m: Array, f: Callable[[Array], Array]) -> Array:
    """Function of a symmetric matrix; SciPy's general logm warns of its own accuracy."""
    values, vectors = scipy.linalg.eigh((m + m.T) / 2)
    return (vectors * f(values)) @ vectors.T


def setting(n: int) -> tuple[Spd, Array, Array, Array, Array]:
    spd = Spd(n)
    x, y = points(spd, 4), points(spd, 4, start=40)
    return spd, x, y, tangents(spd, x, 0.8), tangents(spd, x, 0.5, visit=3)


@SIZES
def test_agrees_with_the_textbook(n: int) -> None:
    spd, xs, ys, us, vs = setting(n)
    carried = matrix(spd, ys, spd.transport(xs, ys, us))
    for i, (x, y) in enumerate(zip(spd.embed(xs), spd.embed(ys), strict=True)):
        u, v = matrix(spd, xs[i], us[i]), matrix(spd, xs[i], vs[i])
        inverse = np.linalg.inv(x)
        root = of(x, np.sqrt)
        whitened = np.linalg.inv(root) @ y @ np.linalg.inv(root)
        e = root @ of(whitened, np.sqrt) @ np.linalg.inv(root)
        pairs = [
            (spd.inner(xs[i], us[i], vs[i]), np.trace(inverse @ u @ inverse @ v)),
            (spd.embed(spd.exp(xs[i], us[i])), x @ scipy.linalg.expm(inverse @ u)),
            (matrix(spd, xs[i], spd.log(xs[i], ys[i])), root @ of(whitened, np.log) @ root),
            (spd.dist(xs[i], ys[i]), np.linalg.norm(of(whitened, np.log))),
            (carried[i], e @ u @ e.T),
            (spd.embed(Spd(n, "second_order").retract(xs[i], us[i])), x + u + u @ inverse @ u / 2),
        ]
        for ours, theirs in pairs:
            # random points have conditions up to 1e3
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)


@SIZES
def test_agrees_with_pymanopt(n: int) -> None:
    spd, xs, ys, us, vs = setting(n)
    theirs = pymanopt.manifolds.SymmetricPositiveDefinite(n)
    for i in range(len(xs)):
        x, y = spd.embed(xs[i]), spd.embed(ys[i])
        u, v = matrix(spd, xs[i], us[i]), matrix(spd, xs[i], vs[i])
        g = ambient(spd, 1)[0]
        by_factor = spd.gradient(xs[i], (g + g.T) @ xs[i])
        pairs = [
            (spd.inner(xs[i], us[i], vs[i]), theirs.inner_product(x, u, v)),
            (spd.embed(spd.exp(xs[i], us[i])), theirs.exp(x, u)),
            (matrix(spd, xs[i], spd.log(xs[i], ys[i])), theirs.log(x, y)),
            (spd.dist(xs[i], ys[i]), theirs.dist(x, y)),
            (
                spd.embed(Spd(n, "second_order").retract(xs[i], us[i])),
                theirs.retraction(x, u),
            ),
            (
                matrix(spd, xs[i], by_factor),
                theirs.euclidean_to_riemannian_gradient(x, (g + g.T) / 2),
            ),
        ]
        for ours, other in pairs:
            np.testing.assert_allclose(ours, other, rtol=1e-10, atol=1e-10)


def test_results_do_not_depend_on_the_factor() -> None:
    spd, x, y, u, _ = setting(5)
    turn = np.linalg.qr(ambient(spd, 4, visit=9))[0]
    back = np.linalg.qr(ambient(spd, 4, visit=8))[0]
    same, there = x @ turn, y @ back
    np.testing.assert_allclose(spd.embed(same), spd.embed(x), rtol=0, atol=1e-12)
    np.testing.assert_allclose(spd.dist(same, there), spd.dist(x, y), rtol=1e-12)
    np.testing.assert_allclose(
        spd.log(same, there), turn.mT @ spd.log(x, y) @ turn, rtol=0, atol=1e-11
    )
    carried = back.mT @ spd.transport(x, y, u) @ back
    np.testing.assert_allclose(
        spd.transport(same, there, turn.mT @ u @ turn), carried, rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("retraction", ["exp", "second_order"])
def test_inverse_retraction(retraction: str) -> None:
    _, x, _, u, _ = setting(5)
    spd = Spd(5, retraction)  # type: ignore[arg-type]
    there = spd.retract(x, u) @ np.linalg.qr(ambient(spd, 4))[0]
    np.testing.assert_allclose(spd.inverse_retract(x, there), u, rtol=0, atol=1e-12)


def test_the_second_order_retraction_halves_at_most() -> None:
    spd = Spd(3, "second_order")
    x = points(spd, 1)[0]
    assert np.isnan(spd.inverse_retract(x, 0.7 * x)).any()  # 0.49 X
    np.testing.assert_allclose(
        spd.inverse_retract(x, 0.8 * x), (math.sqrt(0.28) - 1) * np.eye(3), rtol=0, atol=1e-14
    )
    for length in (1e-8, 1.0, 1e3):
        u = tangents(spd, x[None], length)[0]
        assert np.linalg.eigvalsh(spd.embed(spd.retract(x, u))).min() > 0


def test_the_retraction_is_of_second_order() -> None:
    spd, x, _, u, _ = setting(4)
    second = Spd(4, "second_order")
    errors = [
        float(spd.dist(spd.exp(x, h * u), second.retract(x, h * u)).max()) for h in (0.1, 0.01)
    ]
    assert errors[0] / errors[1] == pytest.approx(1000, rel=0.2)


def test_path_transport_is_parallel_along_each_step() -> None:
    spd, path = Spd(4), Spd(4, transport_by="path")
    x, u = points(spd, 3), tangents(spd, points(spd, 3), 1.0, visit=4)
    here, carried = x, u
    for step in range(5):
        there = spd.exp(here, tangents(spd, here, 0.3, visit=10 + step))
        carried, here = spd.transport(here, there, carried), there
    np.testing.assert_allclose(path.transport(x, here, u), carried, rtol=0, atol=1e-13)
    # The straight way differs by the curvature enclosed.
    assert np.abs(spd.transport(x, here, u) - carried).max() > 1e-4


def test_both_transports_agree_for_short_paths() -> None:
    spd = Spd(4)
    x, u = points(spd, 3), tangents(spd, points(spd, 3), 1.0, visit=4)
    errors = []
    for alpha in (0.1, 0.01):
        here = x
        for step in range(2):
            here = spd.exp(here, alpha * tangents(spd, here, 1.0, visit=10 + step))
        errors.append(np.abs(spd.transport(x, here, u) - u).max())
    # curvature times the area enclosed
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("one", DEGENERATE)
@pytest.mark.parametrize("other", DEGENERATE)
def test_repeated_eigenvalues(one: str, other: str, dtype: type) -> None:
    a: Array = DEGENERATE[one].astype(dtype)
    m: Array = DEGENERATE[other].astype(dtype)
    spd, eps = Spd(4), float(np.finfo(dtype).eps)
    log = spd.log(a, m)
    seen = np.linalg.solve(a.astype(np.float64), m.astype(np.float64))
    expected = of(seen @ seen.T, np.log)
    np.testing.assert_allclose(log, expected, rtol=0, atol=10 * eps)
    np.testing.assert_allclose(spd.embed(spd.exp(a, log)), spd.embed(m), rtol=0, atol=90 * eps)
    assert spd.dist(a, m) == pytest.approx(np.linalg.norm(expected), rel=4 * eps, abs=10 * eps)
    s: Array = np.add.outer(np.arange(4), np.arange(4)).astype(dtype)
    np.testing.assert_allclose(
        np.linalg.norm(spd.transport(a, m, s)), np.linalg.norm(s), rtol=10 * eps
    )


def test_zero_vectors_and_equal_points() -> None:
    for spd in (Spd(4), Spd(4, "second_order")):
        for a in [*DEGENERATE.values(), *points(spd, 3)]:
            zero = np.zeros((4, 4))
            assert np.array_equal(spd.retract(a, zero), a)
            np.testing.assert_allclose(spd.inverse_retract(a, a), zero, rtol=0, atol=2e-15)
            assert spd.dist(a, a) < 4e-15
            np.testing.assert_allclose(spd.transport(a, a, a + a.T), a + a.T, rtol=0, atol=2e-14)


def test_tiny_steps_come_back() -> None:
    spd = Spd(6)
    a = np.linalg.qr(ambient(spd, 3))[0] * np.logspace(0, -5, 6)  # condition 1e10
    u = tangents(spd, a, 1e-8)
    # the factor is rounded to eps, in good columns each to its own length
    np.testing.assert_allclose(spd.log(a, spd.exp(a, u)), u, rtol=0, atol=1e-10)
    easy = points(spd, 3)
    u = tangents(spd, easy, 1e-8)
    np.testing.assert_allclose(spd.log(easy, spd.exp(easy, u)), u, rtol=0, atol=2e-14)


def test_factor() -> None:
    spd = Spd(5)
    x = spd.embed(points(spd, 4))
    assert np.array_equal(x, x.mT)
    a = factor(x)
    np.testing.assert_allclose(spd.embed(a), x, rtol=1e-13, atol=1e-14)
    assert np.array_equal(a, np.tril(a))
    x[2] = -np.eye(5)
    assert np.isnan(factor(x)[2]).all()
    assert np.array_equal(np.delete(factor(x), 2, 0), np.delete(a, 2, 0))


def test_tells_what_is_no_point_and_no_vector() -> None:
    spd = Spd(2)
    assert spd.off_point(1e-200 * np.eye(2)) == 0
    assert math.isnan(spd.off_point(np.array([[1.0, 2.0], [2.0, 4.0]])))
    assert math.isnan(spd.off_point(np.full((2, 2), math.inf)))
    assert spd.off_tangent(np.eye(2), np.array([[1.0, 2.0], [0.0, 1.0]])) == math.sqrt(2)


def test_refuses_no_rows() -> None:
    with pytest.raises(SpecError, match="n >= 1 rows, got n=0"):
        Spd(0)
