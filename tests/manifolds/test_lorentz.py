"""Lorentz maps against 80 digits: near and far, tiny and long steps, both precisions."""

import math

import numpy as np
import pytest

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.manifolds import Lorentz
from tests.manifolds import hyperbolic_reference as reference
from tests.manifolds.points import ambient, points, tangents

RADII = [1e-12, 1e-6, 1.0, 5.0, 10.0, 15.0, 20.0]
CASES = pytest.mark.parametrize(
    ("dtype", "radius"),
    [(np.float64, r) for r in RADII] + [(np.float32, r) for r in RADII if r <= 15],
)


def pairs(radius: float, dtype: type) -> dict[str, tuple[Floats, Floats]]:
    """Points at this distance from the origin, and others here and there."""
    q = np.linalg.qr(ambient(Lorentz(3), 3, visit=int(radius)))[0]
    far = math.sinh(radius)

    def apart(distance: float) -> Array:
        """A point as far out, at this distance."""
        sine = min(1.0, math.sinh(min(distance, radius) / 2) / far)
        angle = 2 * math.asin(sine)
        return far * (math.cos(angle) * q[0] + math.sin(angle) * q[1])

    others = {
        "opposite": -far * q[0],
        "nearly a right angle": far * (1e-9 * q[0] + q[1]),
        "hardly more": 0.1 * far * (-1e-9 * q[0] + q[1]),
        "elsewhere": far * (0.6 * q[0] - 0.8 * q[2]),
        "outward": math.sinh(radius + 1e-3) * q[0],
        "aside": apart(1.0),
        "aside, tiny": apart(1e-8),
        "outward, tiny": math.sinh(radius + 1e-8) * q[0],
        "same": far * q[0],
        "origin": 0 * q[0],
    }
    return {name: ((far * q[0]).astype(dtype), y.astype(dtype)) for name, y in others.items()}


@CASES
def test_dist_log_and_transports(dtype: type, radius: float) -> None:
    parallel, projection = Lorentz(3), Lorentz(3, "projection")
    eps = float(np.finfo(dtype).eps)
    for name, (s, t) in pairs(radius, dtype).items():
        x, y = (reference.lifted(reference.exact(a)) for a in (s, t))
        d = float(reference.dist(x, y))
        # An outward neighbour's part aside is what rounding made it; it is known to eps |t - s|.
        blur = 2 * eps * float(np.linalg.norm(t - s)) if name.startswith("outward") else 0.0
        close = 10 * eps * d + blur
        assert abs(parallel.dist(s, t) - d) <= close, name
        wanted = reference.coordinates(x, reference.log(x, y))
        assert reference.distance(parallel.log(s, t), wanted) <= close, name

        w = ambient(parallel, 1)[0].astype(dtype)
        u = reference.ambient(x, reference.exact(w))
        for manifold, carried, stretch in (
            (parallel, reference.parallel(x, y, u), 1.0),
            (projection, reference.projection(y, u), math.cosh(d)),
        ):
            got = manifold.transport(s, t, w)
            assert got.dtype == dtype
            off = reference.distance(got, reference.coordinates(y, carried))
            scale = stretch * float(np.linalg.norm(w))
            assert off <= (20 * eps + blur / (d or 1)) * scale, name


@CASES
def test_exp(dtype: type, radius: float) -> None:
    manifold = Lorentz(3)
    eps = float(np.finfo(dtype).eps)
    for name, (s, t) in pairs(radius, dtype).items():
        w = manifold.log(s, t)
        x = reference.lifted(reference.exact(s))
        wanted = reference.exp(x, reference.ambient(x, reference.exact(w)))
        y = reference.lifted(reference.exact(manifold.exp(s, w)))
        # Rounding a point moves it by eps |t|; a way across the origin magnifies eps |w|.
        length = float(np.linalg.norm(w))
        allowed = 4 * eps * (length + float(np.linalg.norm(t)) + math.expm1(length))
        if allowed < 0.1:
            assert reference.dist(y, wanted) <= allowed, name


@pytest.mark.parametrize("radius", [1.0, 10.0, 20.0])
def test_tiny_steps_come_back(radius: float) -> None:
    manifold = Lorentz(4)
    x = points(manifold, 6)
    x *= math.sinh(radius) / np.linalg.norm(x, axis=-1, keepdims=True)
    u = tangents(manifold, x, 1e-8 if radius < 20 else 1e-4)
    y = manifold.exp(x, u)
    # rounding y moves it by eps sinh(radius)
    blur = 2e-16 * math.sinh(radius)
    np.testing.assert_allclose(manifold.log(x, y), u, rtol=0, atol=2 * blur + 1e-23)
    assert np.array_equal(manifold.exp(x, 0 * u), x)
    assert np.array_equal(manifold.dist(x, x), np.zeros(6))
    assert np.array_equal(manifold.log(x, x), 0 * u)
    assert np.array_equal(manifold.transport(x, x, u), u)


@pytest.mark.parametrize(("dtype", "radius"), [(np.float64, 20.0), (np.float32, 10.0)])
@pytest.mark.parametrize("step", [1e-3, 1.0])
def test_what_is_aside_is_not_drowned_far_out(dtype: type, radius: float, step: float) -> None:
    """In any direction, so that the logarithm is the small difference of huge points."""
    manifold = Lorentz(3)
    generator = np.random.default_rng(5)
    n, w = generator.standard_normal((2, 8, 3))
    s = (math.sinh(radius) * n / np.linalg.norm(n, axis=-1, keepdims=True)).astype(dtype)
    t = manifold.exp(s, (step * w / np.linalg.norm(w, axis=-1, keepdims=True)).astype(dtype))
    for x, y, got in zip(s, t, manifold.log(s, t), strict=True):
        p, q = reference.lifted(reference.exact(x)), reference.lifted(reference.exact(y))
        wanted = reference.coordinates(p, reference.log(p, q))
        # The product with s is taken exactly, so that only the last roundings are left.
        assert reference.distance(got, wanted) < 8 * np.finfo(dtype).eps * reference.norm(wanted)


def test_steps_add_up_far_out() -> None:
    # 1000 steps of 1e-6 around a circle of radius 10 turn and move as the reference does once.
    manifold = Lorentz(2)
    s, w = np.array([math.sinh(10.0), 0.0]), np.array([0.0, 1e-6])
    x = reference.lifted(reference.exact(s))
    wanted = reference.exp(x, reference.ambient(x, reference.exact(1000 * w)))
    for _ in range(1000):
        t = manifold.exp(s, w)
        s, w = t, manifold.transport(s, t, w)
    y = reference.lifted(reference.exact(s))
    # each step is rounded to eps sinh(10) = 2.4e-12; their sum is a random walk of 30 of them
    assert reference.dist(y, wanted) < 1e-10
    assert abs(np.linalg.norm(w) - 1e-6) < 1e-20


def test_no_point_is_too_near_the_origin() -> None:
    manifold = Lorentz(2)
    for size in (0.0, 1e-320, 1e-200, 1e-160, 1e-150, 1e-100):
        s, w = np.array([0.6, 0.8]) * size, np.array([0.3, -0.4])
        y = manifold.exp(s, w)
        np.testing.assert_allclose(y, math.sinh(0.5) / 0.5 * w, rtol=1e-15)
        np.testing.assert_allclose(manifold.log(s, y), w, rtol=2e-15)
        np.testing.assert_allclose(manifold.transport(s, y, w), w, rtol=1e-15)
        np.testing.assert_allclose(manifold.log(y, s), -w, rtol=2e-15)


def test_gradient_by_finite_differences() -> None:
    manifold = Lorentz(3)
    x, slopes = 3 * points(manifold, 5), ambient(manifold, 5)
    u, h = tangents(manifold, x, 1.0), 1e-6

    def value(s: Array) -> Array:
        return np.sin(s @ slopes[0]) + np.sum(s * s, axis=-1) / 10

    g = np.cos(x @ slopes[0])[:, None] * slopes[0] + x / 5
    finite = (value(manifold.exp(x, h * u)) - value(manifold.exp(x, -h * u))) / (2 * h)
    # central differences: h^2 times third derivatives (some hundreds here), eps / h
    np.testing.assert_allclose(
        manifold.inner(x, manifold.gradient(x, g), u), finite, rtol=1e-8, atol=1e-7
    )


def test_embeds_as_the_hyperboloid() -> None:
    manifold = Lorentz(3)
    s = points(manifold, 7)
    x = manifold.embed(s)
    assert x.shape == (7, 4)
    np.testing.assert_allclose(np.sum(x[:, 1:] ** 2, axis=-1) - x[:, 0] ** 2, -1, rtol=1e-13)


def test_refuses_no_dimension() -> None:
    with pytest.raises(SpecError, match="dim >= 1, got 0"):
        Lorentz(0)
