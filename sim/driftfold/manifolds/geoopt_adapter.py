"""Manifolds of geoopt behind our interface: a cross-check, and a way in for its users.

This is the only file that imports geoopt, and only when such a manifold computes. Adapted are maps
that geoopt 0.5 gets right, at inputs that are not extreme. Left out is what it gets wrong in the
middle of an ordinary run: distances and logarithms on the sphere (equal points 4e-4 apart), the
hyperboloid (its exponential map moves a point along a zero vector), `CanonicalStiefel.retr`.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array
from driftfold.manifolds.base import Exponential, Geodesic, Manifold
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


class GeooptManifold(Manifold):
    """A geoopt manifold; NumPy arrays are lent to torch and come back as NumPy arrays.

    A subclass says which manifold, and turns points round where geoopt stores them otherwise.
    geoopt gets copies (some of its maps write into their arguments), with leading axes broadcast
    and filled up to whole vectors (see `driftfold.lanes`).
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
        return self._call("inner", (), x, u, v)

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
        return self._call(name, self.shape, *arguments)

    def _call(self, name: str, shape: tuple[int, ...], *arguments: Array, **options: Any) -> Array:
        """Call a method of the geoopt manifold whose values have this shape."""
        import torch

        axes = len(self.shape)
        given = [torch.asarray(np.array(a) if isinstance(a, np.ndarray) else a) for a in arguments]
        lead = np.broadcast_shapes(*(tuple(a.shape[: a.ndim - axes]) for a in given))
        count = prod(lead)
        lent = []
        for a in given:
            padded = torch.empty(-(-count // _LANES) * _LANES, *self.shape, dtype=a.dtype)
            padded[:count] = a.expand(*lead, *self.shape).reshape(count, *self.shape)
            padded[count:] = padded[0]
            lent.append(self.turn(padded))
        with torch.no_grad():
            result = getattr(self._geoopt, name)(*lent, **options)
        result = (self.turn(result) if shape else result)[:count].reshape((*lead, *shape))
        return result.numpy() if isinstance(arguments[0], np.ndarray) else result


_LANES = 64


class _GeooptGeodesic(GeooptManifold, Geodesic):
    """A geoopt manifold with an exponential map that geoopt inverts, and parallel transport."""

    @property
    def parallel(self) -> bool:
        """True."""
        return True

    def exp(self, x: Array, u: Array) -> Array:
        """``expmap``."""
        return self._map("expmap", x, u)

    def log(self, x: Array, y: Array) -> Array:
        """``logmap``."""
        return self._map("logmap", x, y)

    def dist(self, x: Array, y: Array) -> Array:
        """``dist``."""
        return self._call("dist", (), x, y)


@register("geoopt_stiefel")
@dataclass(frozen=True)
class GeooptStiefel(GeooptManifold, Exponential):
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

    def exp(self, x: Array, u: Array) -> Array:
        """``expmap``."""
        return self._map("expmap", x, u)


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


@register("geoopt_poincare")
@dataclass(frozen=True)
class GeooptPoincare(_GeooptGeodesic):
    """`geoopt.PoincareBall`; tangent vectors are those of the ball, not in a frame.

    Attributes
    ----------
    dim
        Dimension, at least 1.
    """

    dim: Annotated[int, Ge(1)]

    @property
    def shape(self) -> tuple[int]:
        """(dim,)."""
        return (self.dim,)

    def make(self) -> Any:
        """`geoopt.PoincareBall`."""
        import geoopt

        return geoopt.PoincareBall()

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """``inner``, with the axes kept that geoopt otherwise broadcasts against each other."""
        return self._call("inner", (), x, u, v, keepdim=True)

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """``expmap0`` of standard normal vectors halved, shape (len(ids), dim)."""
        return self._map("expmap0", stream.normal(ids, 0, self.dim) / 2)


@register("geoopt_spd")
@dataclass(frozen=True)
class GeooptSpd(_GeooptGeodesic):
    """`geoopt.SymmetricPositiveDefinite`, affine invariant; points and vectors are the matrices.

    Attributes
    ----------
    n
        Number of rows and columns, at least 1.
    """

    n: Annotated[int, Ge(1)]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    def make(self) -> Any:
        """`geoopt.SymmetricPositiveDefinite`."""
        import geoopt

        return geoopt.SymmetricPositiveDefinite()

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """``expmap`` at the identity of symmetric Gaussian matrices, shape (len(ids), n, n)."""
        drawn = stream.normal(ids, 0, self.n * self.n)
        drawn = drawn.reshape(*drawn.shape[:-1], self.n, self.n)
        return self._map("expmap", np.eye(self.n), (drawn + drawn.mT) / 4)
