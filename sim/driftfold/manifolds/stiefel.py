"""The Stiefel manifold of r orthonormal rows in R^d, with the Euclidean (trace) metric."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge
from array_api_compat import array_namespace

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.manifolds import orthonormal
from driftfold.manifolds.base import Exponential, GradientStream, InvertibleRetraction
from driftfold.manifolds.projected_stream import ProjectedStream
from driftfold.manifolds.small_matrices import expm_skew, lyapunov, qr, solve
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


@register("stiefel")
@dataclass(frozen=True)
class Stiefel(InvertibleRetraction, Exponential):
    """St(d, r) = {X : X X^T = I}, stored as ROWS: a point has shape (r, d).

    This is the transpose of the textbook's d x r matrix: the long axis is contiguous, which makes
    batched products several times faster. The metric is <U, V> = sum of U * V, the transport the
    orthogonal projection (Absil, Mahony, Sepulchre 2008, sections 3.6.1 and 8.1.3).

    Attributes
    ----------
    r
        Number of rows (principal directions), at least 1.
    d
        Length of a row, at least r.
    retraction
        "qr": the QR factor with a positive diagonal (example 4.1.3 there), "polar": the nearest
        orthonormal matrix.

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
    retraction: Literal["qr", "polar"] = "qr"

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

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Trace metric, the sum of u * v: T_x M x T_x M -> R."""
        return array_namespace(u, v).sum(u * v, axis=(-2, -1))

    def project(self, x: Array, v: Array) -> Array:
        """Return v - sym(v x^T) x: R^(r x d) -> T_x M."""
        normal = v @ x.mT
        normal = (normal + normal.mT) * -0.5
        tangent = normal @ x
        tangent += v
        return tangent

    def gradient(self, x: Array, g: Array) -> Array:
        """Projection of the Euclidean gradient g: R^(r x d) -> T_x M."""
        return self.project(x, g)

    def retract(self, x: Array, u: Array) -> Array:
        """Orthonormalise x + u, by `retraction`: T_x M -> M."""
        if self.retraction == "qr":
            return orthonormal.qr_factor(x + u)
        return orthonormal.polar_factor(x + u)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Vector u with retract(x, u) = y: M -> T_x M; NaN where there is none.

        Polar: u = S y - x with M S + S M^T = 2 I, M = x y^T. QR: the same with A^T for S, A upper
        triangular with a positive diagonal and M A + A^T M^T = 2 I (Kaneko, Fiori, Tanaka 2013).
        """
        m = x @ y.mT
        if self.retraction == "polar":
            return lyapunov(m) @ y - x
        return _triangular(m).mT @ y - x

    def exp(self, x: Array, u: Array) -> Array:
        """Geodesic of the Euclidean metric at time 1: T_x M -> M.

        Edelman, Arias, Smith 1998, section 2.2.2, in the basis of x and of an orthonormal basis q
        of the rest of u, where all exponentials are of skew-symmetric matrices.
        """
        xp = array_namespace(x, u)
        x = x + xp.zeros_like(u)
        a = u @ x.mT
        a = (a.mT - a) / 2
        q, upper = qr((u + a @ x).mT)
        lower = upper.mT
        generator = xp.concat(
            [
                xp.concat([2 * a, -lower], axis=-1),
                xp.concat([upper, xp.zeros_like(a)], axis=-1),
            ],
            axis=-2,
        )
        turned = expm_skew(generator)[..., : self.r] @ expm_skew(-a)
        return turned[..., : self.r, :].mT @ x + turned[..., self.r :, :].mT @ q.mT

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Projection onto the target: T_x M -> T_y M."""
        return self.project(y, u)

    def gradient_stream(self, origin: Array) -> GradientStream:
        """Empty sum that projects once, since the transport is a projection."""
        return ProjectedStream(self, origin)

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
    return array_namespace(a).sum(a * a, axis=(-2, -1)) ** 0.5


def _triangular(m: Array) -> Array:
    """Upper triangular A with M A + A^T M^T = 2 I and a positive diagonal; NaN where none is.

    Column j of A solves a system of j + 1 equations, given the columns before it.
    """
    xp = array_namespace(m)
    a = xp.zeros_like(m)
    for j in range(m.shape[-1]):
        right = -xp.sum(m[..., j, :, None] * a[..., :, : j + 1], axis=-2)
        right[..., j] = 1
        a[..., : j + 1, j] = solve(m[..., : j + 1, : j + 1], right[..., None])[..., 0]
    positive = xp.all(xp.linalg.diagonal(a) > 0, axis=-1)
    return xp.where(positive[..., None, None], a, xp.full_like(a, xp.nan))
