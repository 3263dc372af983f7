"""Sphere maps against 50-digit arithmetic, at every distance from 1e-12 to pi - 1e-8."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.manifolds import Sphere
from tests.manifolds.points import points, tangents

ANGLES = pytest.mark.parametrize(
    "angle", [1e-12, 1e-8, 1e-4, 0.3, math.pi / 2, 2.5, math.pi - 1e-4, math.pi - 1e-8]
)
Exact = list[Decimal]


def at_angle(angle: float, size: int = 5) -> tuple[Floats, Floats]:
    """Two points in general position, the angle between them `angle` up to rounding."""
    x, other = points(Sphere(size), 2, start=int(angle * 1000))
    e = Sphere(size).project(x, other)
    return x, Sphere(size).exp(x, e / np.linalg.norm(e) * angle)


def dot(a: Exact, b: Exact) -> Decimal:
    return sum((p * q for p, q in zip(a, b, strict=True)), Decimal(0))


def unit(a: Floats) -> Exact:
    """The stored point, its own rounding error in length taken out."""
    exact = [Decimal(float(value)) for value in a]
    length = dot(exact, exact).sqrt()
    return [value / length for value in exact]


def reference_log(x: Floats, y: Floats) -> tuple[float, Floats]:
    """Distance and logarithm: the direction exactly, the angle from its exact sine and cosine."""
    with localcontext() as context:
        context.prec = 50
        p, q = unit(x), unit(y)
        cosine = dot(p, q)
        normal = [b - cosine * a for a, b in zip(p, q, strict=True)]
        sine = dot(normal, normal).sqrt()
        if cosine > 0:
            angle = Decimal(math.atan2(float(sine), float(cosine)))
        else:
            pi = Decimal("3.14159265358979323846264338327950288419716939937510")
            angle = pi - Decimal(math.atan2(float(sine), -float(cosine)))
        return float(angle), np.array([float(angle / sine * n) for n in normal])


@ANGLES
def test_dist_and_log(angle: float) -> None:
    x, y = at_angle(angle)
    sphere = Sphere(5)
    distance, log = reference_log(x, y)
    # |x| and |y| differ from 1 by eps/2, which moves tiny distances by that much, absolutely.
    assert abs(sphere.dist(x, y) - distance) < 1e-15 + 1e-15 * distance
    assert abs(np.linalg.norm(sphere.log(x, y)) - distance) < 1e-15 + 1e-15 * distance
    # The direction of the logarithm turns by eps / sin(angle): nobody can do better from rounded
    # points.
    np.testing.assert_allclose(
        sphere.log(x, y), log, rtol=0, atol=1e-15 + 2e-15 * distance / math.sin(angle)
    )


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-4, 0.3, 2.5, math.pi - 1e-8])
def test_on_axes_where_points_are_exact(angle: float) -> None:
    sphere = Sphere(3)
    x = np.array([1.0, 0.0, 0.0])
    u = np.array([0.0, angle, 0.0])
    y = sphere.exp(x, u)
    np.testing.assert_allclose(y, [math.cos(angle), math.sin(angle), 0], rtol=1e-15)
    assert sphere.dist(x, y) == pytest.approx(angle, rel=1e-15)
    np.testing.assert_allclose(sphere.log(x, y), u, rtol=1e-15)
    carried = sphere.transport(x, y, np.array([0.0, 2.0, 3.0]))
    expected = [-2 * math.sin(angle), 2 * math.cos(angle), 3.0]
    np.testing.assert_allclose(carried, expected, rtol=1e-15, atol=1e-15)


def test_equal_points() -> None:
    sphere = Sphere(4)
    x = points(sphere, 9)
    assert np.array_equal(sphere.dist(x, x), np.zeros(9))
    assert np.array_equal(sphere.log(x, x), np.zeros((9, 4)))
    np.testing.assert_allclose(sphere.exp(x, 0 * x), x, rtol=0, atol=3e-16)


@ANGLES
def test_parallel_transport(angle: float) -> None:
    x, y = at_angle(angle)
    sphere = Sphere(5)
    xs = np.broadcast_to(x, (4, 5))
    u = tangents(sphere, xs, 1.0)
    got = sphere.transport(x, y, u)
    log = reference_log(x, y)[1]
    e = log / np.linalg.norm(log)
    along = (u @ e)[:, None]
    expected = u + (math.cos(angle) - 1) * along * e - math.sin(angle) * along * x
    # as for the logarithm: the direction is known to eps / sin(angle)
    conditioning = 1 + min(1.0, angle) / math.sin(angle)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15 * conditioning)
    # isometric and tangent all the same
    products = np.einsum("id,jd->ij", u, u)
    np.testing.assert_allclose(np.einsum("id,jd->ij", got, got), products, rtol=0, atol=4e-15)
    assert sphere.off_tangent(y, got).max() < 1e-15


def test_antipodes_are_refused_with_nan_for_that_item_only() -> None:
    sphere = Sphere(3)
    x = points(sphere, 4)
    y = sphere.exp(x, tangents(sphere, x, 0.5))
    y[1] = -x[1]
    log, moved = sphere.log(x, y), sphere.transport(x, y, tangents(sphere, x, 1.0))
    for got in (log, moved):
        assert np.isnan(got[1]).all()
        assert np.isfinite(np.delete(got, 1, 0)).all()
    assert sphere.dist(x, y)[1] == math.pi


@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.5, 10.0, 1e4])
def test_inverse_of_normalising(length: float) -> None:
    sphere = Sphere(6, retraction="normalise")
    x = points(sphere, 5)
    u = tangents(sphere, x, length)
    y = sphere.retract(x, u)
    assert sphere.off_point(y).max() < 1e-15
    np.testing.assert_allclose(y, (x + u) / np.linalg.norm(x + u, axis=-1)[:, None], atol=1e-15)
    # y loses eps, which the inverse stretches by 1 + |u|^2
    np.testing.assert_allclose(
        sphere.inverse_retract(x, y), u, rtol=0, atol=5e-16 * (1 + length**2)
    )


def test_normalising_reaches_half_the_sphere() -> None:
    sphere = Sphere(6, retraction="normalise")
    x = points(sphere, 5)
    assert np.isnan(sphere.inverse_retract(x, -x)).all()
    beyond = sphere.exp(x, tangents(sphere, x, 1.6))
    assert np.isnan(sphere.inverse_retract(x, beyond)).all()


def test_tiny_steps_add_up() -> None:
    # 1000 steps of 1e-9 along a great circle arrive where one step of 1e-6 does.
    sphere = Sphere(3)
    x, u = np.eye(3)[0], 1e-9 * np.eye(3)[1]
    for _ in range(1000):
        y = sphere.exp(x, u)
        x, u = y, sphere.transport(x, y, u)
    np.testing.assert_allclose(x, [math.cos(1e-6), math.sin(1e-6), 0], rtol=0, atol=1e-19 + 2e-16)


def test_projection_transport_shortens() -> None:
    sphere = Sphere(5, transport_by="projection")
    x = points(sphere, 6)
    u = tangents(sphere, x, 1.0)
    y = sphere.exp(x, tangents(sphere, x, 0.8, visit=3))
    carried: Array = sphere.transport(x, y, u)
    np.testing.assert_allclose(
        carried, u - np.sum(y * u, axis=-1, keepdims=True) * y, rtol=0, atol=1e-15
    )
    assert (sphere.norm(y, carried) < 1).all()


def test_refuses_a_size_without_a_sphere() -> None:
    with pytest.raises(SpecError, match="a sphere needs size >= 2, got 1"):
        Sphere(1)
