"""What a manifold can do. Leading axes are batch, always; a capability is a type."""

from abc import ABC, abstractmethod

from driftfold.arrays import Array
from driftfold.registry import family
from driftfold.rng import Stream as RandomStream


@family("manifold")
class Manifold(ABC):
    """A manifold M with a retraction and a vector transport.

    Points x and tangent vectors u are arrays of shape (..., *shape); all arguments broadcast over
    the leading axes. Arrays are NumPy or torch, float64 unless the caller chose otherwise, and are
    never changed in place.

    How a point is stored is the manifold's choice, for accuracy; `embed` gives the textbook's
    form. A tangent vector is stored as coordinates of the same shape: those of the surrounding
    space, or those in a frame at x that the manifold describes. `displacement` says what they mean
    for the stored point.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of one point."""

    @property
    def isometric(self) -> bool:
        """Whether `transport` keeps inner products."""
        return False

    @abstractmethod
    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Metric <u, v>_x at x, shape (...)."""

    @abstractmethod
    def project(self, x: Array, v: Array) -> Array:
        """Orthogonal projection of any array v of a point's shape onto T_x M."""

    @abstractmethod
    def gradient(self, x: Array, g: Array) -> Array:
        """Riemannian gradient in T_x M of a function with Euclidean gradient g at the stored x.

        It represents g on tangent vectors: <gradient(x, g), u>_x is the sum of
        g * displacement(x, u) for every u in T_x M.
        """

    @abstractmethod
    def retract(self, x: Array, u: Array) -> Array:
        """Retraction R_x(u): T_x M -> M."""

    @abstractmethod
    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Vector transport of u from T_x M to T_y M."""

    @abstractmethod
    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Random points, one for each of `ids`, shape (len(ids), *shape), addressed by `stream`."""

    @abstractmethod
    def off_point(self, x: Array) -> Array:
        """How far x is from the manifold (0 on it), shape (...)."""

    @abstractmethod
    def off_tangent(self, x: Array, u: Array) -> Array:
        """How far u is from T_x M (0 in it), shape (...)."""

    def displacement(self, x: Array, u: Array) -> Array:
        """Velocity of the stored point along u in T_x M, so that R_x(h u) = x + h * it + O(h^2)."""
        return u

    def embed(self, x: Array) -> Array:
        """Return the point in the textbook's form; equal points have equal forms."""
        return x

    def norm(self, x: Array, u: Array) -> Array:
        """Length of u in the metric at x, shape (...)."""
        return abs(self.inner(x, u, u)) ** 0.5

    def gradient_stream(self, origin: Array) -> "GradientStream":
        """Empty sum of gradients along a path, to be carried back to `origin`."""
        return GradientStream(self, origin)


class GradientStream:
    """The sum of transported gradients that RFedAGS uploads (its 'gradient stream').

    `add(x, g)` adds g in T_x M, transported to the origin; `total()` is in the tangent space of
    the origin. A manifold whose transport is a linear projection overrides `gradient_stream` with
    one that projects only once.
    """

    def __init__(self, manifold: Manifold, origin: Array) -> None:
        self._manifold = manifold
        self._origin = origin
        self._sum: Array | None = None

    def add(self, x: Array, g: Array) -> None:
        """Add g in T_x M; the origin itself needs no transport."""
        carried = g if x is self._origin else self._manifold.transport(x, self._origin, g)
        self._sum = carried if self._sum is None else self._sum + carried

    def total(self) -> Array:
        """Return the sum of all that was added, in the tangent space of the origin."""
        if self._sum is None:
            raise ValueError("an empty gradient stream has no total; add at least one gradient")
        return self._sum


class InvertibleRetraction(Manifold):
    """A manifold whose retraction has a computable inverse."""

    @abstractmethod
    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Vector u in T_x M with R_x(u) = y, for y near x."""


class NearestPoint(Manifold):
    """A manifold that is a closed part of the space of arrays, with a computable nearest point."""

    @property
    def induced(self) -> bool:
        """Whether the metric is that of the space of arrays, the sum of u * v."""
        return True

    @abstractmethod
    def nearest(self, y: Array) -> Array:
        """Point of M nearest to any array y: one of them where there are several.

        Nearest in the Frobenius norm |x - y|, whatever the metric. An array with an entry that is
        not finite has none; it gives entries that are not finite.
        """


class Exponential(Manifold):
    """A manifold with a computable exponential map."""

    @abstractmethod
    def exp(self, x: Array, u: Array) -> Array:
        """Exponential map Exp_x(u): T_x M -> M."""


class Geodesic(Exponential):
    """A manifold whose exponential map has a computable inverse."""

    @property
    def parallel(self) -> bool:
        """Whether `transport` is parallel transport along the shortest geodesic from x to y."""
        return False

    @property
    def isometric(self) -> bool:
        """Whether `transport` keeps inner products; parallel transport does."""
        return self.parallel

    @abstractmethod
    def log(self, x: Array, y: Array) -> Array:
        """Inverse exponential map Exp_x^{-1}(y) in T_x M."""

    @abstractmethod
    def dist(self, x: Array, y: Array) -> Array:
        """Geodesic distance, shape (...)."""


class Framed(Manifold):
    """A manifold with an orthonormal frame of each tangent space, and coordinates in it.

    The coordinates of a vector are as many numbers as the manifold has dimensions, and the metric
    is their dot product. The frame depends on the stored point alone, so that all who know x mean
    the same by a list of numbers.
    """

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension of the manifold."""

    @abstractmethod
    def coordinates(self, x: Array, u: Array) -> Array:
        """Coordinates of u in the frame at x, shape (..., dim): T_x M -> R^dim, an isometry."""

    @abstractmethod
    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Vector with coordinates c, shape (..., *shape): R^dim -> T_x M."""
