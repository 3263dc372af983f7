"""Hyperbolic space on the hyperboloid, stored so that nothing cancels far out."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.base import Framed, Geodesic, InvertibleRetraction
from driftfold.manifolds.hyperbolic import (
    aside,
    asinhc,
    dot,
    length,
    quotient,
    replaced,
    sinhc,
    turn,
)
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("lorentz")
@dataclass(frozen=True)
class Lorentz(Geodesic, InvertibleRetraction, Framed):
    """H^dim of curvature -1, the sheet x_0 > 0 of -x_0^2 + |s|^2 = -1 in R^(dim + 1).

    A point is stored as its spatial part s; x_0 = sqrt(1 + |s|^2) follows. A tangent vector is
    stored as its coordinates w in the orthonormal frame that parallel transport carries from the
    origin s = 0 straight out to s: in the surrounding space it is (s.w, w + s (s.w) / (1 + x_0)).
    In these coordinates the metric is the dot product, and the differences of huge numbers that
    the textbook's formulas take far from the origin do not occur.

    The retraction is the exponential map. What remains hard is a step right across the origin,
    which loses exp(|w|) eps: keep steps below 15 in double, 7 in single precision.

    Attributes
    ----------
    dim
        Dimension, at least 1.
    transport_by
        "parallel": parallel transport along the geodesic, an isometry; "projection": orthogonal
        projection in the surrounding space onto the target tangent space, which stretches what
        points along the geodesic by the hyperbolic cosine of the distance.

    Raises
    ------
    SpecError
        The dimension is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> plane = Lorentz(2)
    >>> s, w = np.array([3e8, 0.0]), np.array([0.0, 1e-3])  # 20.2 from the origin
    >>> bool(abs(plane.dist(s, plane.exp(s, w)) - 1e-3) < 1e-15)
    True
    >>> plane.embed(np.array([0.75, 0.0]))
    array([1.25, 0.75, 0.  ])
    """

    dim: Annotated[int, Ge(1)]
    transport_by: Literal["parallel", "projection"] = "parallel"

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise SpecError(f"hyperbolic space has dim >= 1, got {self.dim}; choose a larger dim")

    @property
    def shape(self) -> tuple[int]:
        """(dim,)."""
        return (self.dim,)

    @property
    def parallel(self) -> bool:
        """Whether `transport_by` says so."""
        return self.transport_by == "parallel"

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Dot product of frame coordinates: T_x M x T_x M -> R."""
        return array_namespace(u, v).vecdot(u, v)

    def project(self, x: Array, v: Array) -> Array:
        """Return v: all coordinates are those of a tangent vector."""
        return v

    def gradient(self, x: Array, g: Array) -> Array:
        """Return g + s (s.g) / (1 + x_0) for the gradient g in s: R^dim -> T_x M."""
        return self.displacement(x, g)

    def displacement(self, x: Array, u: Array) -> Array:
        """Velocity w + s (s.w) / (1 + x_0) of the spatial part: T_x M -> R^dim."""
        return u + x * (dot(x, u) / (1 + _time(x)))

    def embed(self, x: Array) -> Array:
        """(x_0, s) in R^(dim + 1)."""
        return array_namespace(x).concat([_time(x), x], axis=-1)

    def retract(self, x: Array, u: Array) -> Array:
        """Exponential map: T_x M -> M."""
        return self.exp(x, u)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Logarithm: M -> T_x M."""
        return self.log(x, y)

    def exp(self, x: Array, u: Array) -> Array:
        """Geodesic at time 1: T_x M -> M, the boost of (cosh|w|, sinh|w| w/|w|) to x.

        What is added to s is computed, so a tiny step is as accurate as s. Towards the origin a
        long step would subtract huge numbers; there the radial part is a quotient of sums.
        """
        squared = dot(x, x)
        radius, x0 = squared**0.5, (1 + squared) ** 0.5
        n, p = quotient(x, radius), sinhc(length(u)) * u
        a, square = dot(n, p), dot(p, p)
        cosh, across = (1 + square) ** 0.5, p - a * n

        def anew() -> Array:
            radial = (radius + a) * (radius - a) + radius * radius * dot(across, across)
            return quotient(radial, radius * cosh - x0 * a) * n + across

        added = x + (x0 * a + radius * (square / (1 + cosh))) * n + across
        moved = replaced((a < 0) & (square > 1), anew, added)
        return replaced(_central(radius), lambda: x + p, moved)

    def log(self, x: Array, y: Array) -> Array:
        """Inverse of exp, of length dist(x, y): M -> T_x M."""
        b = _seen(_triangle(x, y))
        return asinhc(length(b)) * b

    def dist(self, x: Array, y: Array) -> Array:
        """Hyperbolic distance, shape (...)."""
        q = length(_seen(_triangle(x, y)))
        return in_whole_vectors(array_namespace(q).asinh, q)[..., 0]

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Carry u from T_x M to T_y M, by `transport_by`.

        Parallel: a rotation in the plane of both points, by the defect of the triangle that they
        form with the origin. Projection: the same after u has been stretched along the geodesic.
        """
        triangle = _triangle(x, y)
        if self.transport_by == "projection":
            b = _seen(triangle)
            u = u + b * (dot(b, u) / (1 + _time(b)))
        return turn(
            u, triangle.n, quotient(triangle.across, triangle.height), _half_defect(triangle)
        )

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
        return sinhc(length(w)) * w

    def off_point(self, x: Array) -> Array:
        """0 for a finite point, NaN otherwise, shape (...)."""
        return array_namespace(x).sum(x * 0, axis=-1)

    def off_tangent(self, x: Array, u: Array) -> Array:
        """0 for a finite vector, NaN otherwise, shape (...)."""
        return self.off_point(u)


class _Triangle(NamedTuple):
    """The origin, s and t. All but `n` and `across` have shape (..., 1)."""

    s: Array
    t: Array
    n: Array
    """s / |s|."""
    across: Array
    """Part of t orthogonal to s."""
    height: Array
    """|across|."""
    radii: tuple[Array, Array]
    times: tuple[Array, Array]
    versine: Array
    """1 - cos of the angle at the origin."""


def _triangle(s: Array, t: Array) -> _Triangle:
    xp = array_namespace(s, t)
    n, radii = _outward(s), (length(s), length(t))
    across = aside(n, s, t)
    height = length(across)
    sine = xp.minimum(quotient(height, radii[1]), xp.ones_like(height))
    # From the sine, the cosine would lose half of its digits at a right angle.
    cosine = quotient(dot(n, t), radii[1])
    acute = cosine > 0
    versine = xp.where(acute, sine * sine / (1 + xp.where(acute, cosine, 0.0)), 1 - cosine)
    return _Triangle(s, t, n, across, height, radii, (_time(s), _time(t)), versine)


def _seen(triangle: _Triangle) -> Array:
    """Where t lies as seen from s: sinh(distance) times the unit direction of the logarithm.

    The radial part is sinh(rho_t - rho_s) - s_0 |t| (1 - cos), both terms without cancellation for
    near points.
    """
    s, t, n, across, _, (rs, rt), (s0, t0), versine = triangle
    rise = quotient(dot(t - s, t + s), rs * t0 + rt * s0)
    seen = (rise - s0 * rt * versine) * n + across
    return array_namespace(s, t).where(_central(rs), t - s, seen)


def _half_defect(triangle: _Triangle) -> Array:
    """Half the angular defect: tan = th sin / (1 - th cos), th = tanh(rho_s/2) tanh(rho_t/2).

    The denominator is a sum of non-negative terms.
    """
    _, _, _, _, height, (rs, rt), (s0, t0), versine = triangle
    a, b = rs / (1 + s0), rt / (1 + t0)
    a_less, b_less = (1 + 1 / (s0 + rs)) / (1 + s0), (1 + 1 / (t0 + rt)) / (1 + t0)  # 1 - a, 1 - b
    # b sin = |across| / (1 + t_0)
    over, under = a * height / (1 + t0), a_less + a * b_less + a * b * versine
    return in_whole_vectors(array_namespace(over).atan2, over, under)


def _time(s: Array) -> Array:
    return (1 + dot(s, s)) ** 0.5


def _outward(s: Array) -> Array:
    return quotient(s, length(s))


def _central(radius: Array) -> Array:
    """Whether s is so near the origin that space is flat there and |s|^2 has lost digits."""
    limits = array_namespace(radius).finfo(radius.dtype)
    return radius * radius < limits.smallest_normal / limits.eps
