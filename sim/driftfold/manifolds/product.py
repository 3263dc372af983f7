"""Products of manifolds: a model of several parts as one flat vector."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, ClassVar

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


@register("product")
@dataclass(frozen=True, init=False, repr=False)
class Product(Manifold):
    """M_1 x M_2 x ... with the sum of their metrics; every map acts on each part.

    A point is one flat vector: the parts' arrays in the order of their names, each laid out row by
    row. So are tangent vectors. `split` and `join` go to named parts and back. The product is
    `InvertibleRetraction`, `NearestPoint`, `Framed`, `Exponential` or `Geodesic` when all its
    factors are:
    `Product(...)` makes an object of the class that can do so.

    Attributes
    ----------
    factors
        The manifolds by name, at least one.

    Raises
    ------
    SpecError
        There are no factors.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.manifolds import Euclidean, Sphere
    >>> model = Product({"head": Euclidean(2), "axis": Sphere(3)})
    >>> x = model.join({"head": np.array([0.5, 2.0]), "axis": np.array([1.0, 0.0, 0.0])})
    >>> x
    array([1. , 0. , 0. , 0.5, 2. ])
    >>> model.split(model.retract(x, np.array([0.0, 0.0, 0.0, 1.0, 1.0])))["head"]
    array([1.5, 3. ])
    >>> isinstance(model, Geodesic)
    True
    """

    factors: Mapping[str, Manifold]

    __kind__: ClassVar[str]

    def __init_subclass__(cls) -> None:
        # A product that can do more is still of the one kind "product".
        cls.__kind__ = Product.__kind__

    def __new__(cls, factors: Mapping[str, Manifold]) -> "Product":
        """Make a product of the class that can do what all factors can."""
        if not factors:
            raise SpecError("a product has at least one factor, got none; name a manifold")
        made = object.__new__(_able(factors))
        object.__setattr__(made, "factors", {name: factors[name] for name in sorted(factors)})
        return made

    def __repr__(self) -> str:
        return f"Product({dict(self.factors)!r})"

    def __hash__(self) -> int:
        return hash(tuple(self.factors.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Product, (dict(self.factors),)

    @property
    def shape(self) -> tuple[int]:
        """(number of entries of all parts together,)."""
        return (sum(prod(factor.shape) for factor in self.factors.values()),)

    @property
    def isometric(self) -> bool:
        """Whether the transports of all factors are."""
        return all(factor.isometric for factor in self.factors.values())

    def split(self, x: Array) -> dict[str, Array]:
        """Parts of a point or tangent vector by name: views of shape (..., *factor.shape)."""
        parts, start = {}, 0
        for name, factor in self.factors.items():
            stop = start + prod(factor.shape)
            parts[name] = x[..., start:stop].reshape((*x.shape[:-1], *factor.shape))
            start = stop
        return parts

    def join(self, parts: Mapping[str, Array]) -> Array:
        """Flat vector of named parts, shape (..., *shape); leading axes broadcast.

        Raises `ValueError` when the names are not those of the factors.
        """
        if set(parts) != set(self.factors):
            raise ValueError(
                f"got parts {sorted(parts)}, wanted exactly those of the factors: "
                f"{sorted(self.factors)}"
            )
        return self._flat({name: (parts[name], f.shape) for name, f in self.factors.items()})

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Sum of the factors' inner products: T_x M x T_x M -> R."""
        return self._sum("inner", x, u, v)

    def project(self, x: Array, v: Array) -> Array:
        """Projection of each part: R^n -> T_x M."""
        return self._each("project", x, v)

    def gradient(self, x: Array, g: Array) -> Array:
        """Riemannian gradient of each part: R^n -> T_x M."""
        return self._each("gradient", x, g)

    def displacement(self, x: Array, u: Array) -> Array:
        """Velocity of each stored part: T_x M -> R^n."""
        return self._each("displacement", x, u)

    def embed(self, x: Array) -> Array:
        """Textbook forms of the parts, one after the other in a flat vector."""
        forms = {}
        for name, part in self.split(x).items():
            form = self.factors[name].embed(part)
            forms[name] = form, form.shape[part.ndim - len(self.factors[name].shape) :]
        return self._flat(forms)

    def retract(self, x: Array, u: Array) -> Array:
        """Retraction of each part: T_x M -> M."""
        return self._each("retract", x, u)

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Transport of each part: T_x M -> T_y M."""
        return self._each("transport", x, y, u)

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum that keeps one stream for each part."""
        return _ProductStream(self, origin)

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Independent random parts, shape (len(ids), *shape)."""
        return self.join(
            {
                name: factor.random_point(
                    RandomStream(stream.seed, f"{stream.purpose}/{name}"), ids
                )
                for name, factor in self.factors.items()
            }
        )

    def off_point(self, x: Array) -> Array:
        """Sum of how far each part is from its manifold, shape (...)."""
        return self._sum("off_point", x)

    def off_tangent(self, x: Array, u: Array) -> Array:
        """Sum of how far each part is from its tangent space, shape (...)."""
        return self._sum("off_tangent", x, u)

    def _parts(self, name: str, *arguments: Array) -> dict[str, Array]:
        split = [self.split(argument) for argument in arguments]
        return {
            part: getattr(factor, name)(*(pieces[part] for pieces in split))
            for part, factor in self.factors.items()
        }

    def _each(self, name: str, *arguments: Array) -> Array:
        return self.join(self._parts(name, *arguments))

    def _sum(self, name: str, *arguments: Array) -> Array:
        return sum(self._parts(name, *arguments).values())

    def _flat(self, parts: Mapping[str, tuple[Array, tuple[int, ...]]]) -> Array:
        arrays = [array for array, _ in parts.values()]
        xp = array_namespace(*arrays)
        flat = []
        for array, shape in parts.values():
            flat.append(array.reshape(*array.shape[: array.ndim - len(shape)], prod(shape)))
        if len({piece.shape[:-1] for piece in flat}) > 1:
            # a part that does not depend on all arguments has not got their leading axes
            lead = xp.broadcast_arrays(*(piece[..., 0] for piece in flat))[0].shape
            flat = [xp.broadcast_to(piece, (*lead, piece.shape[-1])) for piece in flat]
        return xp.concat(flat, axis=-1)


class _ProductStream(GradientStream):
    """One gradient stream for each part."""

    def __init__(self, product: Product, origin: Array) -> None:
        self._product, self._whole = product, origin
        self._origins = product.split(origin)
        self._streams = {
            name: factor.gradient_stream(self._origins[name])
            for name, factor in product.factors.items()
        }

    def add(self, x: Array, g: Array) -> None:
        """Add g in T_x M; streams know their origin by identity, so it is not split anew."""
        points = self._origins if x is self._whole else self._product.split(x)
        for name, part in self._product.split(g).items():
            self._streams[name].add(points[name], part)

    def total(self) -> Array:
        """Return the joined sums, in the tangent space of the origin."""
        return self._product.join({name: s.total() for name, s in self._streams.items()})


class _Inverting(Product, InvertibleRetraction):
    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Inverse retraction of each part: M -> T_x M."""
        return self._each("inverse_retract", x, y)


class _Nearest(Product, NearestPoint):
    @property
    def induced(self) -> bool:
        """Whether the metrics of all factors are."""
        return all(isinstance(f, NearestPoint) and f.induced for f in self.factors.values())

    def nearest(self, y: Array) -> Array:
        """Nearest point of each part: R^n -> M."""
        return self._each("nearest", y)


class _Framed(Product, Framed):
    @property
    def dimension(self) -> int:
        """Sum of the factors' dimensions."""
        return sum(self._dims)

    def coordinates(self, x: Array, u: Array) -> Array:
        """Coordinates of each part, one after the other: T_x M -> R^dim."""
        parts = self._parts("coordinates", x, u)
        return self._flat(
            {name: (c, (n,)) for (name, c), n in zip(parts.items(), self._dims, strict=True)}
        )

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`: R^dim -> T_x M."""
        points, made, start = self.split(x), {}, 0
        for (name, factor), n in zip(self.factors.items(), self._dims, strict=True):
            assert isinstance(factor, Framed)
            made[name] = factor.from_coordinates(points[name], c[..., start : start + n])
            start += n
        return self.join(made)

    @property
    def _dims(self) -> list[int]:
        return [factor.dimension for factor in self.factors.values() if isinstance(factor, Framed)]


class _Exponential(Product, Exponential):
    def exp(self, x: Array, u: Array) -> Array:
        """Exponential map of each part: T_x M -> M."""
        return self._each("exp", x, u)


class _Geodesic(_Exponential, Geodesic):
    @property
    def parallel(self) -> bool:
        """Whether the transports of all factors are."""
        return all(isinstance(f, Geodesic) and f.parallel for f in self.factors.values())

    def log(self, x: Array, y: Array) -> Array:
        """Logarithm of each part: M -> T_x M."""
        return self._each("log", x, y)

    def dist(self, x: Array, y: Array) -> Array:
        """Root of the sum of the parts' squared distances, shape (...)."""
        squares = [distance**2 for distance in self._parts("dist", x, y).values()]
        return sum(squares) ** 0.5


_ABLE: Mapping[type[Any], type[Product]] = {
    Framed: _Framed,
    NearestPoint: _Nearest,
    InvertibleRetraction: _Inverting,
    Geodesic: _Geodesic,
    Exponential: _Exponential,
}


def _able(factors: Mapping[str, Manifold]) -> type[Product]:
    """Return the class whose capabilities are those that all factors have."""
    return _class(
        tuple(
            able
            for capability, able in _ABLE.items()
            if all(isinstance(factor, capability) for factor in factors.values())
        )
    )


@cache
def _class(able: tuple[type[Product], ...]) -> type[Product]:
    return type("Product", able, {"__module__": __name__}) if able else Product
