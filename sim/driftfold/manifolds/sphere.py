"""The unit sphere in R^size, with the metric of the surrounding space."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.base import (
    Framed,
    Geodesic,
    GradientStream,
    InvertibleRetraction,
    NearestPoint,
)
from driftfold.manifolds.block_reflection import block_reflection
from driftfold.manifolds.projected_stream import ProjectedStream
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("sphere")
@dataclass(frozen=True)
class Sphere(Geodesic, InvertibleRetraction, NearestPoint, Framed):
    """S^(size - 1) = {x in R^size : |x| = 1}.

    All maps are accurate from distances of 1e-12 up to pi - 1e-8: none takes the arc cosine of an
    inner product.

    Attributes
    ----------
    size
        Length of a point, at least 2.
    retraction
        "exp": the exponential map, "normalise": (x + u) / |x + u|.
    transport_by
        "parallel": parallel transport along the shortest geodesic, an isometry; "projection":
        orthogonal projection onto the target tangent space.

    Raises
    ------
    SpecError
        The size is less than 2.

    Examples
    --------
    >>> import numpy as np
    >>> sphere = Sphere(3)
    >>> x, y = np.eye(3)[:2]
    >>> sphere.log(x, y).round(3)
    array([0.   , 1.571, 0.   ])
    """

    size: Annotated[int, Ge(2)]
    retraction: Literal["exp", "normalise"] = "exp"
    transport_by: Literal["parallel", "projection"] = "parallel"

    def __post_init__(self) -> None:
        if self.size < 2:
            raise SpecError(f"a sphere needs size >= 2, got {self.size}; choose a larger size")

    @property
    def shape(self) -> tuple[int]:
        """(size,)."""
        return (self.size,)

    @property
    def parallel(self) -> bool:
        """Whether `transport_by` says so."""
        return self.transport_by == "parallel"

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Dot product: T_x M x T_x M -> R."""
        return array_namespace(u, v).vecdot(u, v)

    def project(self, x: Array, v: Array) -> Array:
        """Return v - <x, v> x: R^size -> T_x M."""
        return v - _dot(x, v) * x

    def gradient(self, x: Array, g: Array) -> Array:
        """Projection of the Euclidean gradient g: R^size -> T_x M."""
        return self.project(x, g)

    def retract(self, x: Array, u: Array) -> Array:
        """Map T_x M -> M, by `retraction`."""
        return self.exp(x, u) if self.retraction == "exp" else _normalised(x + u)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Vector u with retract(x, u) = y: M -> T_x M.

        For "exp" the logarithm; for "normalise" y / <x, y> - x, NaN outside the open half sphere
        around x, which the retraction cannot reach.
        """
        if self.retraction == "exp":
            return self.log(x, y)
        return self._direction(x, y) / _positive(_dot(x, y))

    def exp(self, x: Array, u: Array) -> Array:
        """Geodesic cos|u| x + sin|u| u/|u|, normalised against rounding: T_x M -> M."""
        xp = array_namespace(x, u)
        t = _length(u)
        sinc = in_whole_vectors(xp.sin, t) / xp.where(t > 0, t, xp.ones_like(t))
        return _normalised(in_whole_vectors(xp.cos, t) * x + sinc * u)

    @np.errstate(invalid="ignore")
    def nearest(self, y: Array) -> Array:
        """Return y / |y|: R^size -> M; (1, 0, ..., 0) for y = 0, equally near to all points.

        Scaled first, so that no square leaves the range of numbers.
        """
        xp = array_namespace(y)
        largest = xp.max(abs(y), axis=-1, keepdims=True)
        zero = largest == 0
        scaled = y / xp.where(zero, xp.ones_like(largest), largest)
        first = xp.arange(self.size, device=y.device) == 0
        return _normalised(xp.where(zero & first, xp.ones_like(scaled), scaled))

    def log(self, x: Array, y: Array) -> Array:
        """Inverse of exp, of length dist(x, y): M -> T_x M; NaN at the antipode of x."""
        xp = array_namespace(x, y)
        u = self._direction(x, y)
        length = _length(u)
        far = _dot(x, y) < 0
        alike = xp.where(far, xp.full_like(length, xp.nan), xp.ones_like(length))
        return u * (self._dist(x, y) / xp.where(length > 0, length, alike))

    def dist(self, x: Array, y: Array) -> Array:
        """Angle 2 atan2(|x - y|, |x + y|) between x and y, shape (...)."""
        return self._dist(x, y)[..., 0]

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Carry u from T_x M to T_y M, by `transport_by`.

        Parallel: u - 2 <x + y, u> / |x + y|^2 (x + y); undefined at the antipode of x (NaN).
        """
        if self.transport_by == "projection":
            return self.project(y, u)
        middle = self._middle(x, y)
        return u - 2 * _dot(middle, u) / _positive(_dot(middle, middle)) * middle

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum; where the transport is the projection it projects only once."""
        if self.transport_by == "projection":
            return ProjectedStream(self, origin)
        return super().gradient_stream(origin)

    @property
    def dimension(self) -> int:
        """One less than `size`."""
        return self.size - 1

    def coordinates(self, x: Array, u: Array) -> Array:
        """All but the first entry after the reflection that turns x onto the first axis."""
        return block_reflection(x[..., None, :]).complement(u[..., None, :])[..., 0, :]

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`: R^dim -> T_x M."""
        return block_reflection(x[..., None, :]).embedded(c[..., None, :])[..., 0, :]

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Points uniform on the sphere, shape (len(ids), size)."""
        return _normalised(stream.normal(ids, 0, self.size))

    def off_point(self, x: Array) -> Array:
        """| |x| - 1 |, shape (...)."""
        return abs(_length(x)[..., 0] - 1)

    def off_tangent(self, x: Array, u: Array) -> Array:
        """|<x, u>|, shape (...)."""
        return abs(self.inner(x, x, u))

    def _direction(self, x: Array, y: Array) -> Array:
        """P_x(y), from y - x near x or y + x near its antipode, where y alone would cancel."""
        xp = array_namespace(x, y)
        nearby = xp.where(_dot(x, y) < 0, y + x, y - x)
        return self.project(x, self.project(x, nearby))

    def _middle(self, x: Array, y: Array) -> Array:
        """Sum x + y, rebuilt from its part normal to x (known better) where it cancels."""
        xp = array_namespace(x, y)
        middle, cosine = x + y, _dot(x, y)
        far = cosine < 0
        if xp.any(far):
            normal = self._direction(x, y)
            rebuilt = normal + _dot(normal, normal) / (1 - cosine) * x
            middle = xp.where(far, rebuilt, middle)
        return middle

    def _dist(self, x: Array, y: Array) -> Array:
        xp = array_namespace(x, y)
        return 2 * in_whole_vectors(xp.atan2, _length(x - y), _length(x + y))


def _dot(a: Array, b: Array) -> Array:
    return array_namespace(a, b).vecdot(a, b)[..., None]


def _length(a: Array) -> Array:
    return _dot(a, a) ** 0.5


def _positive(a: Array) -> Array:
    xp = array_namespace(a)
    return xp.where(a > 0, a, xp.full_like(a, xp.nan))


def _normalised(a: Array) -> Array:
    return a / _length(a)
