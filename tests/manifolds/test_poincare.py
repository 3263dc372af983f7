"""Poincare ball maps against 80 digits, against the hyperboloid, and at the edge of the ball."""

import math

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.manifolds import Lorentz, Poincare
from driftfold.manifolds.hyperbolic_forms import from_ball, to_ball
from tests.manifolds import hyperbolic_reference as reference
from tests.manifolds.points import ambient, points, tangents
from tests.manifolds.test_lorentz import pairs

RADII = [1e-12, 1e-6, 1.0, 5.0, 10.0]
CASES = pytest.mark.parametrize(
    ("dtype", "radius"),
    [(np.float64, r) for r in RADII] + [(np.float32, r) for r in RADII if r <= 5],
)


@CASES
def test_every_map(dtype: type, radius: float) -> None:
    manifold = Poincare(3)
    eps = float(np.finfo(dtype).eps)
    for name, spatial in pairs(radius, np.float64).items():
        b, c = (to_ball(s).astype(dtype) for s in spatial)
        x, y = (reference.lifted(reference.from_ball(reference.exact(a))) for a in (b, c))
        # 1 - |b|^2 is known to eps, which moves a stored point by eps exp(radius).
        blur = 4 * eps * math.exp(radius)
        d = float(reference.dist(x, y))
        assert abs(manifold.dist(b, c) - d) <= blur * min(d, 1) + 10 * eps * d, name
        w = manifold.log(b, c)
        wanted = reference.coordinates(x, reference.log(x, y))
        assert reference.distance(w, wanted) <= blur * min(d, 1) + 10 * eps * d, name

        v = ambient(manifold, 1)[0].astype(dtype)
        carried = reference.parallel(x, y, reference.ambient(x, reference.exact(v)))
        off = reference.distance(manifold.transport(b, c, v), reference.coordinates(y, carried))
        assert off <= (20 * eps + blur * min(d, 1)) * np.linalg.norm(v), name

        moved = manifold.exp(b, w)
        assert moved.dtype == dtype
        wanted = reference.exp(x, reference.ambient(x, reference.exact(w)))
        landed = reference.lifted(reference.from_ball(reference.exact(moved)))
        allowed = 2 * eps * math.exp(max(d, radius)) * max(1.0, math.expm1(d))
        if allowed < 0.1:
            assert reference.dist(landed, wanted) <= allowed, name


def test_is_the_hyperboloid_in_another_form() -> None:
    ball, hyperboloid = Poincare(4), Lorentz(4)
    b = points(ball, 9)
    u, v = tangents(ball, b, 0.7), tangents(ball, b, 0.4, visit=5)
    c, s = ball.exp(b, u), from_ball(b)
    t = hyperboloid.exp(s, u)
    # both to some eps times exp(3), the furthest point
    np.testing.assert_allclose(from_ball(c), t, rtol=1e-13)
    np.testing.assert_allclose(ball.log(b, c), hyperboloid.log(s, t), rtol=0, atol=1e-13)
    np.testing.assert_allclose(ball.dist(b, c), hyperboloid.dist(s, t), rtol=1e-13)
    np.testing.assert_allclose(
        ball.transport(b, c, v), hyperboloid.transport(s, t, v), rtol=0, atol=1e-14
    )


def test_tiny_steps_come_back() -> None:
    manifold = Poincare(3)
    b = points(manifold, 6)
    u = tangents(manifold, b, 1e-8)
    c = manifold.exp(b, u)
    np.testing.assert_allclose(manifold.log(b, c), u, rtol=0, atol=1e-14)
    assert np.array_equal(manifold.exp(b, 0 * u), b)
    assert np.array_equal(manifold.dist(b, b), np.zeros(6))
    assert np.array_equal(manifold.transport(b, b, u), u)


@pytest.mark.parametrize(("dtype", "edge"), [(np.float64, 34.0), (np.float32, 15.0)])
def test_stays_inside_the_ball(dtype: type, edge: float) -> None:
    manifold = Poincare(3)
    b = points(manifold, 5).astype(dtype)
    w = tangents(manifold, b, 50.0).astype(dtype)
    far = manifold.exp(b, w)
    assert np.isfinite(far).all()
    assert np.array_equal(manifold.off_point(far), np.zeros(5, dtype))
    assert (manifold.dist(np.zeros_like(b), far) > edge).all()
    back = manifold.exp(far, manifold.log(far, b))
    assert np.isfinite(back).all()
    assert (np.linalg.norm(back, axis=-1) < 1).all()


def test_tells_what_is_not_in_the_ball() -> None:
    assert Poincare(2).off_point(np.array([[0.6, 0.0], [1.5, 0.0]])) == pytest.approx([0.0, 0.5])
    assert math.isnan(Poincare(2).off_point(np.array([math.nan, 0.0])))


def test_refuses_no_dimension() -> None:
    with pytest.raises(SpecError, match="dim >= 1, got 0"):
        Poincare(0)
