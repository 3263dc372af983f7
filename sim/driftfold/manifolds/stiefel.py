"""The Stiefel manifold of r orthonormal rows in R^d, with the Euclidean or the canonical metric."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.manifolds import cayley, orthonormal
from driftfold.manifolds.base import (
    Exponential,
    Framed,
    GradientStream,
    InvertibleRetraction,
    NearestPoint,
)
from driftfold.manifolds.block_reflection import block_reflection
from driftfold.manifolds.projected_stream import ProjectedStream
from driftfold.manifolds.small_matrices import lyapunov, qr, skew, triangular_factor
from driftfold.manifolds.stiefel_geodesics import canonical_exp, euclidean_exp
from driftfold.manifolds.triangles import of_skew_matrix, skew_matrix
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("stiefel")
@dataclass(frozen=True)
class Stiefel(InvertibleRetraction, Exponential, NearestPoint, Framed):
    """St(d, r) = {X : X X^T = I}, stored as ROWS: a point has shape (r, d).

    This is the transpose of the textbook's d x r matrix: the long axis is contiguous, which makes
    batched products several times faster. Every retraction and transport goes with either metric.

    Attributes
    ----------
    r
        Number of rows (principal directions), at least 1.
    d
        Length of a row, at least r.
    retraction
        "qr": the QR factor with a positive diagonal (Absil, Mahony, Sepulchre 2008, example
        4.1.3), "polar": the nearest orthonormal matrix, of second order in the Euclidean metric;
        "cayley": the Cayley transform (Wen, Yin 2013), of second order in the canonical one.
    metric
        "euclidean": the sum of U * V, that of the surrounding space; "canonical":
        tr(U (I - X^T X / 2) V^T), that of the quotient of orthogonal matrices (Edelman, Arias,
        Smith 1998, section 2.4.1).
    transport_by
        "projection": orthogonal projection onto the target tangent space, which suits the RFedAGS
        sum because it need be done but once; "cayley": turned as the Cayley retraction turns X
        into Y, an isometry of both metrics that costs 2.5 times as much (Zhu 2017).

    Raises
    ------
    SpecError
        r or d are not such numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.rng import Seed
    >>> stiefel = Stiefel(r=2, d=5)
    >>> x, y = stiefel.random_point(Seed(7).stream("points"), ids=np.arange(2))
    >>> u = stiefel.gradient(x, -y)
    >>> bool(stiefel.off_point(stiefel.retract(x, u)) < 1e-14)
    True
    """

    r: Annotated[int, Ge(1)]
    d: Annotated[int, Ge(1)]
    retraction: Literal["qr", "polar", "cayley"] = "qr"
    metric: Literal["euclidean", "canonical"] = "euclidean"
    transport_by: Literal["projection", "cayley"] = "projection"

    def __post_init__(self) -> None:
        if not 1 <= self.r <= self.d:
            raise SpecError(
                f"a Stiefel point has r rows of length d with 1 <= r <= d, got r={self.r}, "
                f"d={self.d}; choose fewer rows or longer ones"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(r, d)."""
        return self.r, self.d

    @property
    def isometric(self) -> bool:
        """Whether `transport` keeps inner products."""
        return self.transport_by == "cayley"

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Metric, by `metric`: T_x M x T_x M -> R."""
        total = _total(u * v)
        if self.metric == "canonical":
            total = total - 0.5 * _total((u @ x.mT) * (v @ x.mT))
        return total

    def project(self, x: Array, v: Array) -> Array:
        """Return v - sym(v x^T) x: R^(r x d) -> T_x M."""
        normal = v @ x.mT
        normal = (normal + normal.mT) * -0.5
        tangent = normal @ x
        tangent += v
        return tangent

    def gradient(self, x: Array, g: Array) -> Array:
        """Riemannian gradient for the Euclidean gradient g: R^(r x d) -> T_x M.

        Euclidean metric: the projection. Canonical metric: g - x g^T x.
        """
        if self.metric == "euclidean":
            return self.project(x, g)
        turned = x @ g.mT
        turned *= -1
        tangent = turned @ x
        tangent += g
        return tangent

    def retract(self, x: Array, u: Array) -> Array:
        """End of the step u, by `retraction`: T_x M -> M."""
        if self.retraction == "qr":
            return orthonormal.qr_factor(x + u)
        if self.retraction == "polar":
            return orthonormal.polar_factor(x + u)
        return cayley.retract(x, u)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Vector u with retract(x, u) = y: M -> T_x M; NaN where there is none.

        With M = x y^T, polar: u = S y - x, M S + S M^T = 2 I. QR: the same with A^T for S, A upper
        triangular with a positive diagonal and M A + A^T M^T = 2 I (Kaneko, Fiori, Tanaka 2013).
        Cayley: in closed form, for all y but those where I + M is singular.
        """
        if self.retraction == "cayley":
            return cayley.inverse_retract(x, y)
        m = x @ y.mT
        stretch = lyapunov(m) if self.retraction == "polar" else triangular_factor(m).mT
        return stretch @ y - x

    @property
    def induced(self) -> bool:
        """Whether the metric is the Euclidean one."""
        return self.metric == "euclidean"

    def nearest(self, y: Array) -> Array:
        """Polar factor U V^T of y = U S V^T: R^(r x d) -> M (Fan, Hoffman 1955).

        Not unique where y has a rank below r; then one of the nearest.
        """
        return orthonormal.polar_factor(y)

    def exp(self, x: Array, u: Array) -> Array:
        """Geodesic of the metric at time 1: T_x M -> M (Edelman, Arias, Smith 1998)."""
        return euclidean_exp(x, u) if self.metric == "euclidean" else canonical_exp(x, u)

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Carry u from T_x M to T_y M, by `transport_by`.

        The isometry is lost to rounding where I + x y^T is nearly singular, NaN where it is so.
        """
        if self.transport_by == "projection":
            return self.project(y, u)
        return cayley.transport(x, y, u)

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum; where the transport is the projection it projects only once."""
        if self.transport_by == "projection":
            return ProjectedStream(self, origin)
        return super().gradient_stream(origin)

    @property
    def dimension(self) -> int:
        """The number r d - r (r + 1) / 2."""
        return self.r * self.d - self.r * (self.r + 1) // 2

    def coordinates(self, x: Array, u: Array) -> Array:
        """Coordinates of u = A x + B, A skew and B orthogonal to x: T_x M -> R^dim.

        First the entries of A below the diagonal, scaled as the metric has it; then those of B
        after the block reflection that turns x onto the first r axes. Both are intrinsic: no number
        is sent that tangency already tells.
        """
        a = skew(u @ x.mT)
        b = block_reflection(x).complement(u - a @ x)
        flat = b.reshape(*b.shape[:-2], self.r * (self.d - self.r))
        return array_namespace(x, u).concat([of_skew_matrix(a) * self._skew_scale, flat], axis=-1)

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`: R^dim -> T_x M."""
        turns = self.r * (self.r - 1) // 2
        a = skew_matrix(c[..., :turns] / self._skew_scale, self.r)
        b = c[..., turns:].reshape(*c.shape[:-1], self.r, self.d - self.r)
        return a @ x + block_reflection(x).embedded(b)

    @property
    def _skew_scale(self) -> float:
        return 1.0 if self.metric == "euclidean" else 0.5**0.5

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Points uniform on the manifold (QR of Gaussian matrices), shape (len(ids), r, d)."""
        gaussian = stream.normal(ids, 0, self.r * self.d)
        return qr(gaussian.reshape(*gaussian.shape[:-1], self.r, self.d).mT)[0].mT.copy()

    def off_point(self, x: Array) -> Array:
        """Frobenius norm of x x^T - I, shape (...)."""
        xp = array_namespace(x)
        return _frobenius(x @ x.mT - xp.eye(self.r, dtype=x.dtype, device=x.device))

    def off_tangent(self, x: Array, u: Array) -> Array:
        """Frobenius norm of the normal part sym(u x^T) x, shape (...)."""
        normal = u @ x.mT
        return _frobenius((normal + normal.mT) / 2)


def _frobenius(a: Array) -> Array:
    return _total(a * a) ** 0.5


def _total(a: Array) -> Array:
    return array_namespace(a).sum(a, axis=(-2, -1))
