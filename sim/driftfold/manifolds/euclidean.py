"""Euclidean space: the manifold on which the algorithms become those of the flat world."""

from dataclasses import dataclass
from math import prod

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.manifolds.base import (
    Framed,
    Geodesic,
    GradientStream,
    InvertibleRetraction,
    NearestPoint,
)
from driftfold.manifolds.projected_stream import ProjectedStream
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("euclidean")
@dataclass(frozen=True, init=False)
class Euclidean(Geodesic, InvertibleRetraction, NearestPoint, Framed):
    """R^n as an array of any shape, with the dot product.

    `Euclidean(20, 25)` is the same as `Euclidean(sizes=(20, 25))`.

    Attributes
    ----------
    sizes
        Shape of a point, each at least 1.

    Raises
    ------
    SpecError
        A size is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> space = Euclidean(2)
    >>> space.retract(np.array([1.0, 2.0]), np.array([0.5, -2.0]))
    array([1.5, 0. ])
    """

    sizes: tuple[int, ...]

    def __init__(self, *shape: int, sizes: tuple[int, ...] = ()) -> None:
        object.__setattr__(self, "sizes", tuple(shape or sizes))
        if any(size < 1 for size in self.sizes):
            raise SpecError(
                f"the sizes of a Euclidean point are at least 1, got {self.sizes}; "
                "leave out the axes that have none"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """`sizes`."""
        return self.sizes

    @property
    def parallel(self) -> bool:
        """True."""
        return True

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Dot product: R^n x R^n -> R."""
        return array_namespace(u, v).sum(u * v, axis=self._axes)

    def project(self, x: Array, v: Array) -> Array:
        """Return v: the tangent space is the whole space."""
        return v

    def gradient(self, x: Array, g: Array) -> Array:
        """Return g: the Euclidean gradient is the Riemannian one."""
        return g

    def retract(self, x: Array, u: Array) -> Array:
        """Return x + u."""
        return x + u

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Return y - x."""
        return y - x

    def nearest(self, y: Array) -> Array:
        """Return y: every array is a point."""
        return y

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Return u: tangent spaces are the same everywhere."""
        return u

    def exp(self, x: Array, u: Array) -> Array:
        """Return x + u."""
        return x + u

    def log(self, x: Array, y: Array) -> Array:
        """Return y - x."""
        return y - x

    def dist(self, x: Array, y: Array) -> Array:
        """Length of y - x, shape (...)."""
        return self.norm(x, y - x)

    @property
    def dimension(self) -> int:
        """Number of entries."""
        return prod(self.sizes)

    def coordinates(self, x: Array, u: Array) -> Array:
        """The entries row by row: R^n -> R^dim."""
        return u.reshape(*u.shape[: u.ndim - len(self.sizes)], self.dimension)

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`."""
        return c.reshape(*c.shape[:-1], *self.sizes)

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum of gradients; nothing needs a transport."""
        return ProjectedStream(self, origin)

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Draw standard normal points, shape (len(ids), *shape)."""
        drawn = stream.normal(ids, 0, prod(self.sizes))
        return drawn.reshape(*drawn.shape[:-1], *self.sizes)

    def off_point(self, x: Array) -> Array:
        """0 for a finite point, NaN otherwise, shape (...)."""
        return array_namespace(x).sum(x * 0, axis=self._axes)

    def off_tangent(self, x: Array, u: Array) -> Array:
        """0 for a finite vector, NaN otherwise, shape (...)."""
        return self.off_point(u)

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-len(self.sizes), 0))
