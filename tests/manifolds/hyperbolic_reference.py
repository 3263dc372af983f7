"""The textbook's formulas on the hyperboloid, in 80 digits, for points stored as floats."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import mpmath
import numpy as np

from driftfold.arrays import Floats

Exact: TypeAlias = list[Any]

mp = mpmath.mp.clone()
mp.dps = 80


def exact(values: Sequence[float] | Floats) -> Exact:
    return [mp.mpf(float(value)) for value in values]


def lifted(s: Exact) -> Exact:
    """(x_0, s) on the hyperboloid."""
    return [mp.sqrt(1 + dot(s, s)), *s]


def from_ball(b: Exact) -> Exact:
    square = dot(b, b)
    return [2 * value / (1 - square) for value in b]


def dot(a: Exact, b: Exact) -> Any:
    return mp.fsum(p * q for p, q in zip(a, b, strict=True))


def minkowski(a: Exact, b: Exact) -> Any:
    return dot(a[1:], b[1:]) - a[0] * b[0]


def dist(x: Exact, y: Exact) -> Any:
    """2 asinh(|x - y| / 2) with Minkowski's |.|, which does not cancel."""
    between = [a - b for a, b in zip(x, y, strict=True)]
    return 2 * mp.asinh(mp.sqrt(abs(minkowski(between, between))) / 2)


def log(x: Exact, y: Exact) -> Exact:
    d, c = dist(x, y), -minkowski(x, y)
    return [(d / mp.sinh(d) if d else 0) * (b - c * a) for a, b in zip(x, y, strict=True)]


def exp(x: Exact, u: Exact) -> Exact:
    n = mp.sqrt(minkowski(u, u))
    sinhc = mp.sinh(n) / n if n else 1
    return [mp.cosh(n) * a + sinhc * b for a, b in zip(x, u, strict=True)]


def parallel(x: Exact, y: Exact, u: Exact) -> Exact:
    """u + <y, u> / (1 - <x, y>) (x + y)."""
    c = minkowski(y, u) / (1 - minkowski(x, y))
    return [a + c * (b + d) for a, b, d in zip(u, x, y, strict=True)]


def projection(y: Exact, u: Exact) -> Exact:
    """u + <y, u> y."""
    c = minkowski(y, u)
    return [a + c * b for a, b in zip(u, y, strict=True)]


def ambient(x: Exact, w: Exact) -> Exact:
    """Vector with the frame coordinates w at x."""
    along = dot(x[1:], w)
    return [along] + [a + b * along / (1 + x[0]) for a, b in zip(w, x[1:], strict=True)]


def coordinates(x: Exact, u: Exact) -> Exact:
    """Frame coordinates of the vector u at x."""
    along = dot(x[1:], u[1:])
    return [a - b * along / (x[0] * (1 + x[0])) for a, b in zip(u[1:], x[1:], strict=True)]


def distance(a: Floats, b: Exact) -> float:
    """Euclidean distance of computed numbers from exact ones."""
    assert np.isfinite(a).all()
    return float(mp.sqrt(mp.fsum((p - q) ** 2 for p, q in zip(exact(a), b, strict=True))))


def norm(a: Exact) -> float:
    return float(mp.sqrt(dot(a, a)))
