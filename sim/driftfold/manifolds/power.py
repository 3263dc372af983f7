"""Powers of a manifold: many points of one kind as one point, such as the nodes of a graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.manifolds.base import (
    Exponential,
    Framed,
    Geodesic,
    GradientStream,
    InvertibleRetraction,
    Manifold,
    NearestPoint,
)
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("power")
@dataclass(frozen=True, init=False, repr=False)
class Power(Manifold):
    """M x M x ... x M, `count` times, with the sum of the metrics.

    A point has shape (count, *base.shape); every map acts on each of them. The power is
    `InvertibleRetraction`, `NearestPoint`, `Framed`, `Exponential` or `Geodesic` when its base is:
    `Power(...)` makes an object of the class that can do so.

    Attributes
    ----------
    base
        The manifold M.
    count
        Number of points of M that make one point of the power, at least 1.

    Raises
    ------
    SpecError
        The count is less than 1.

    Examples
    --------
    >>> from driftfold.manifolds import Sphere
    >>> three = Power(Sphere(2), count=3)
    >>> three.shape, isinstance(three, Geodesic)
    ((3, 2), True)
    >>> x = np.array([[1.0, 0.0]] * 3)
    >>> turned = three.exp(x, np.array([[0.0, 3.0], [0.0, 0.0], [0.0, -4.0]]) / 4)
    >>> float(three.dist(x, turned).round(12))
    1.25
    """

    base: Manifold
    count: Annotated[int, Ge(1)]

    __kind__: ClassVar[str]

    def __init_subclass__(cls) -> None:
        # A power that can do more is still of the one kind "power".
        cls.__kind__ = Power.__kind__

    def __new__(cls, base: Manifold, count: int) -> "Power":
        """Make an object of the class that can do what the base can."""
        if count < 1:
            raise SpecError(f"a power has count >= 1, got {count}; choose a larger count")
        made = object.__new__(_able(base))
        object.__setattr__(made, "base", base)
        object.__setattr__(made, "count", count)
        return made

    def __repr__(self) -> str:
        return f"Power({self.base!r}, count={self.count})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Power, (self.base, self.count)

    @property
    def shape(self) -> tuple[int, ...]:
        """(count, *base.shape)."""
        return (self.count, *self.base.shape)

    @property
    def isometric(self) -> bool:
        """Whether the transport of the base is."""
        return self.base.isometric

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Sum of the inner products: T_x M x T_x M -> R."""
        return _sum(self.base.inner(x, u, v))

    def project(self, x: Array, v: Array) -> Array:
        """Projection of each part: R^(count x ...) -> T_x M."""
        return self.base.project(x, v)

    def gradient(self, x: Array, g: Array) -> Array:
        """Riemannian gradient of each part: R^(count x ...) -> T_x M."""
        return self.base.gradient(x, g)

    def displacement(self, x: Array, u: Array) -> Array:
        """Velocity of each stored part."""
        return self.base.displacement(x, u)

    def embed(self, x: Array) -> Array:
        """Textbook form of each part."""
        return self.base.embed(x)

    def retract(self, x: Array, u: Array) -> Array:
        """Retraction of each part: T_x M -> M."""
        return self.base.retract(x, u)

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Transport of each part: T_x M -> T_y M."""
        return self.base.transport(x, y, u)

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum of the base, whose leading axes include the parts."""
        return self.base.gradient_stream(origin)

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Independent random parts, those of number id * count ..., shape (len(ids), *shape)."""
        parts = np.asarray(ids)[:, None] * self.count + np.arange(self.count)
        drawn = self.base.random_point(stream, parts.reshape(-1))
        return drawn.reshape(len(parts), *self.shape)

    def off_point(self, x: Array) -> Array:
        """Sum of how far each part is from the base, shape (...)."""
        return _sum(self.base.off_point(x))

    def off_tangent(self, x: Array, u: Array) -> Array:
        """Sum of how far each part is from its tangent space, shape (...)."""
        return _sum(self.base.off_tangent(x, u))


class _Inverting(Power, InvertibleRetraction):
    base: InvertibleRetraction

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Inverse retraction of each part: M -> T_x M."""
        return self.base.inverse_retract(x, y)


class _Nearest(Power, NearestPoint):
    base: NearestPoint

    @property
    def induced(self) -> bool:
        """Whether the metric of the base is."""
        return self.base.induced

    def nearest(self, y: Array) -> Array:
        """Nearest point of each part: R^(count x ...) -> M."""
        return self.base.nearest(y)


class _Framed(Power, Framed):
    base: Framed

    @property
    def dimension(self) -> int:
        """`count` times that of the base."""
        return self.count * self.base.dimension

    def coordinates(self, x: Array, u: Array) -> Array:
        """Coordinates of each part, one after the other: T_x M -> R^dim."""
        parts = self.base.coordinates(x, u)
        return parts.reshape(*parts.shape[:-2], self.dimension)

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`: R^dim -> T_x M."""
        return self.base.from_coordinates(
            x, c.reshape(*c.shape[:-1], self.count, self.base.dimension)
        )


class _Exponential(Power, Exponential):
    base: Exponential

    def exp(self, x: Array, u: Array) -> Array:
        """Exponential map of each part: T_x M -> M."""
        return self.base.exp(x, u)


class _Geodesic(Power, Geodesic):
    base: Geodesic

    @property
    def parallel(self) -> bool:
        """Whether the transport of the base is."""
        return self.base.parallel

    def exp(self, x: Array, u: Array) -> Array:
        """Exponential map of each part: T_x M -> M."""
        return self.base.exp(x, u)

    def log(self, x: Array, y: Array) -> Array:
        """Logarithm of each part: M -> T_x M."""
        return self.base.log(x, y)

    def dist(self, x: Array, y: Array) -> Array:
        """Root of the sum of the parts' squared distances, shape (...)."""
        return _sum(self.base.dist(x, y) ** 2) ** 0.5


_ABLE: Mapping[type[Any], type[Power]] = {
    Framed: _Framed,
    NearestPoint: _Nearest,
    InvertibleRetraction: _Inverting,
    Geodesic: _Geodesic,
    Exponential: _Exponential,
}


def _able(base: Manifold) -> type[Power]:
    """Class of powers that can do what the base can."""
    return _class(tuple(able for can, able in _ABLE.items() if isinstance(base, can)))


@cache
def _class(able: tuple[type[Power], ...]) -> type[Power]:
    return type("Power", able, {"__module__": __name__}) if able else Power


def _sum(parts: Array) -> Array:
    return array_namespace(parts).sum(parts, axis=-1)
