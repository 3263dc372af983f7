"""Hyperbolic space as the Poincare ball."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.base import Framed, Geodesic, InvertibleRetraction
from driftfold.manifolds.hyperbolic import aside, asinhc, dot, length, quotient, sinhc, turn
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("poincare")
@dataclass(frozen=True)
class Poincare(Geodesic, InvertibleRetraction, Framed):
    """H^dim of curvature -1 as the ball |b| < 1 in R^dim, with metric 4 |db|^2 / (1 - |b|^2)^2.

    A point is stored as b. A tangent vector is stored as w = 2 db / (1 - |b|^2), its coordinates in
    an orthonormal frame, in which the metric is the dot product; it is the frame of `Lorentz`. The
    retraction is the exponential map, the transport parallel.

    A number near 1 has few digits left for 1 - |b|: at distance rho from the origin a stored point
    is blurred by eps exp(rho). `Lorentz` has that blur across the radius only, not along it; prefer
    it but for points near the origin or for data that come as points of the ball. Points are kept
    inside the largest ball that can be stored, about 36 (17 in single precision) in radius.

    Attributes
    ----------
    dim
        Dimension, at least 1.

    Raises
    ------
    SpecError
        The dimension is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> plane = Poincare(2)
    >>> bool(abs(plane.dist(np.array([0.5, 0.0]), np.zeros(2)) - np.log(3)) < 1e-15)
    True
    """

    dim: Annotated[int, Ge(1)]

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise SpecError(f"hyperbolic space has dim >= 1, got {self.dim}; choose a larger dim")

    @property
    def shape(self) -> tuple[int]:
        """(dim,)."""
        return (self.dim,)

    @property
    def parallel(self) -> bool:
        """True."""
        return True

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Dot product of frame coordinates: T_x M x T_x M -> R."""
        return array_namespace(u, v).vecdot(u, v)

    def project(self, x: Array, v: Array) -> Array:
        """Return v: all coordinates are those of a tangent vector."""
        return v

    def gradient(self, x: Array, g: Array) -> Array:
        """(1 - |b|^2) g / 2 for the gradient g with respect to b: R^dim -> T_x M."""
        return self.displacement(x, g)

    def displacement(self, x: Array, u: Array) -> Array:
        """Velocity (1 - |b|^2) w / 2 of b: T_x M -> R^dim."""
        return u * (_margin(x) / 2)

    def retract(self, x: Array, u: Array) -> Array:
        """Exponential map: T_x M -> M."""
        return self.exp(x, u)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Logarithm: M -> T_x M."""
        return self.log(x, y)

    def exp(self, x: Array, u: Array) -> Array:
        """Geodesic at time 1: T_x M -> M.

        b + (1 - |b|^2) (v + |v|^2 b) / (1 + 2 b.v + |b|^2 |v|^2), v = tanh(|w|/2) w/|w| (Ungar's
        sum of b and v, as b plus what is added).
        """
        half = u / 2
        v = sinhc(length(half)) * half
        v = v / (1 + dot(v, v)) ** 0.5
        square, cross = dot(v, v), length(x) * length(v)
        # (1 - |b||v|)^2 and what the angle adds: neither is negative
        under = (1 - cross) ** 2 + 2 * (cross + dot(x, v))
        return _inside(x + _margin(x) * (v + square * x) / under)

    def log(self, x: Array, y: Array) -> Array:
        """Inverse of exp, of length dist(x, y): M -> T_x M.

        sinh(distance / 2) = |c - b| / sqrt((1 - |b|^2) (1 - |c|^2)), in the direction
        (1 - |b|^2) (c - b) - |c - b|^2 b.
        """
        step, half = _step(x, y)
        direction = _margin(x) * step - dot(step, step) * x
        return 2 * asinhc(half) * half * quotient(direction, length(direction))

    def dist(self, x: Array, y: Array) -> Array:
        """Hyperbolic distance, shape (...)."""
        half = _step(x, y)[1]
        return 2 * in_whole_vectors(array_namespace(half).asinh, half)[..., 0]

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Parallel transport from T_x M to T_y M.

        A rotation in the plane of both points, by the defect of the triangle that they form with
        the origin: tan(defect / 2) = |b| |c| sin / (1 - b.c).
        """
        n, step = quotient(x, length(x)), y - x
        across = aside(n, x, y)
        height = length(across)
        under = (_margin(x) + _margin(y) + dot(step, step)) / 2
        half = in_whole_vectors(array_namespace(under).atan2, length(x) * height, under)
        return turn(u, n, quotient(across, height), half)

    @property
    def dimension(self) -> int:
        """Return `dim`."""
        return self.dim

    def coordinates(self, x: Array, u: Array) -> Array:
        """Return w, coordinates in a frame as it is stored: T_x M -> R^dim."""
        return u

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Return c."""
        return c

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Images of standard normal vectors at the origin, shape (len(ids), dim)."""
        w = stream.normal(ids, 0, self.dim)
        return self.exp(0 * w, w)

    def off_point(self, x: Array) -> Array:
        """How far |b| is beyond the largest ball that can be stored, shape (...)."""
        radius = length(x)[..., 0]
        xp = array_namespace(x)
        return xp.where(radius < 1, 0 * radius, radius - _largest(x))

    def off_tangent(self, x: Array, u: Array) -> Array:
        """0 for a finite vector, NaN otherwise, shape (...)."""
        return array_namespace(u).sum(u * 0, axis=-1)


def _margin(b: Array) -> Array:
    """1 - |b|^2, exact near the boundary."""
    radius = length(b)
    return (1 - radius) * (1 + radius)


def _step(b: Array, c: Array) -> tuple[Array, Array]:
    """Return c - b and the sinh of half the distance."""
    step = c - b
    return step, length(step) / (_margin(b) * _margin(c)) ** 0.5


def _largest(b: Array) -> float:
    return float(1 - 2 * array_namespace(b).finfo(b.dtype).eps)


def _inside(b: Array) -> Array:
    xp = array_namespace(b)
    radius, largest = length(b), _largest(b)
    return xp.where(radius > largest, b * (largest / xp.where(radius > 0, radius, 1 + radius)), b)
