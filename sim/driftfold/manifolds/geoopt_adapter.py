"""Manifolds of geoopt behind our interface: a cross-check, and a way in for its users.

This is the only file that imports geoopt, and only when such a manifold computes. Adapted are maps
that geoopt 0.5 gets right. Left out is what it gets wrong: distances and logarithms on the sphere
(equal points 4e-4 apart) and on the hyperboloid, `CanonicalStiefel.retr`.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from array_api_compat import is_numpy_array

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


class GeooptManifold(Manifold):
    """A geoopt manifold; NumPy arrays are lent to torch and come back as NumPy arrays.

    A subclass says which manifold, and turns points round where geoopt stores them otherwise.
    """

    packages: ClassVar[tuple[str, ...]] = ("geoopt", "torch")

    @abstractmethod
    def make(self) -> Any:
        """Construct the geoopt manifold."""

    def turn(self, a: Any) -> Any:
        """From our layout of a point to geoopt's and back."""
        return a

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """``inner``."""
        lead = np.broadcast_shapes(x.shape, u.shape, v.shape)[: -len(self.shape)]
        return self._call("inner", x, u, v).reshape(lead)

    def project(self, x: Array, v: Array) -> Array:
        """``proju``."""
        return self._map("proju", x, v)

    def gradient(self, x: Array, g: Array) -> Array:
        """``egrad2rgrad``."""
        return self._map("egrad2rgrad", x, g)

    def retract(self, x: Array, u: Array) -> Array:
        """``retr``."""
        return self._map("retr", x, u)

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """``transp``."""
        return self._map("transp", x, y, u)

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """``projx`` of Gaussian arrays, shape (len(ids), *shape)."""
        drawn = stream.normal(ids, 0, int(np.prod(self.shape)))
        return self._map("projx", drawn.reshape(*drawn.shape[:-1], *self.shape))

    def off_point(self, x: Array) -> Array:
        """Distance to ``projx(x)`` in the surrounding space, shape (...)."""
        return self._size(x - self._map("projx", x))

    def off_tangent(self, x: Array, u: Array) -> Array:
        """Distance to ``proju(x, u)`` in the surrounding space, shape (...)."""
        return self._size(u - self._map("proju", x, u))

    @cached_property
    def _geoopt(self) -> Any:
        return self.make()

    def _size(self, a: Array) -> Array:
        return (a**2).sum(tuple(range(-len(self.shape), 0))) ** 0.5

    def _map(self, name: str, *arguments: Array) -> Array:
        return self._call(name, *arguments, back=self.turn)

    def _call(self, name: str, *arguments: Array, back: Any = lambda a: a) -> Array:
        import torch

        with torch.no_grad():
            lent = [
                self.turn(torch.asarray(np.array(a) if is_numpy_array(a) else a)) for a in arguments
            ]
            result = back(getattr(self._geoopt, name)(*lent))
        return result.numpy() if is_numpy_array(arguments[0]) else result


@register("geoopt_stiefel")
@dataclass(frozen=True)
class GeooptStiefel(GeooptManifold):
    """`geoopt.EuclideanStiefel`: QR retraction, transport by projection; points stored as rows.

    Attributes
    ----------
    r
        Number of orthonormal rows.
    d
        Length of a row, at least r.
    """

    r: Annotated[int, Ge(1)]
    d: Annotated[int, Ge(1)]

    @property
    def shape(self) -> tuple[int, int]:
        """(r, d)."""
        return self.r, self.d

    def make(self) -> Any:
        """`geoopt.EuclideanStiefel`."""
        import geoopt

        return geoopt.EuclideanStiefel()

    def turn(self, a: Any) -> Any:
        """Rows to columns and back."""
        return a.mT


@register("geoopt_sphere")
@dataclass(frozen=True)
class GeooptSphere(GeooptManifold):
    """`geoopt.Sphere`: normalising retraction, transport by projection.

    Attributes
    ----------
    size
        Length of a point, at least 2.
    """

    size: Annotated[int, Ge(2)]

    @property
    def shape(self) -> tuple[int]:
        """(size,)."""
        return (self.size,)

    def make(self) -> Any:
        """`geoopt.Sphere`."""
        import geoopt

        return geoopt.Sphere()
