"""Symmetric positive definite matrices with the affine-invariant metric, kept as factors."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, array_namespace
from driftfold.errors import SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.base import Framed, Geodesic, InvertibleRetraction
from driftfold.manifolds.relative import Relative, relative
from driftfold.manifolds.small_matrices import by_item
from driftfold.manifolds.symmetric import composed, of_symmetric, symmetric_part
from driftfold.manifolds.triangles import of_symmetric_matrix, symmetric_matrix
from driftfold.registry import register
from driftfold.rng import Stream as RandomStream


def factor(matrix: Array) -> Array:
    """Cholesky factor A of matrix = A A^T, shape (..., n, n); NaN where there is none.

    >>> factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    return by_item(array_namespace(matrix).linalg.cholesky, matrix)


@register("spd")
@dataclass(frozen=True)
class Spd(Geodesic, InvertibleRetraction, Framed):
    """Symmetric positive definite n x n matrices X with <U, V>_X = tr(X^-1 U X^-1 V).

    A point is stored as a factor A, any with X = A A^T (`factor` gives the triangular one, `embed`
    the matrix X). A tangent vector is stored as the symmetric S that stands for A S A^T: its length
    is |S|_F wherever it is. Factors have the square root of the condition number, so twice the
    digits of far eigenvalues are kept, and X stays positive definite by construction.

    Attributes
    ----------
    n
        Number of rows and columns, at least 1.
    retraction
        "exp": the exponential map; "second_order": X + U + U X^-1 U / 2 (Jeuris, Vandebril,
        Vandereycken 2012), which agrees with it to second order.
    transport_by
        "parallel": parallel transport along the geodesic. "path": the coordinates S are kept,
        which is parallel transport along the path on which the stored factor was moved by `retract`
        with "exp" (back or forth); it costs nothing. It has a meaning only between points of
        one such path, since it depends on how A was chosen, not on X alone. Both are isometries.

    Raises
    ------
    SpecError
        n is less than 1.

    Examples
    --------
    >>> spd = Spd(2)
    >>> a = factor(np.array([[2.0, 0.0], [0.0, 8.0]]))
    >>> m = spd.exp(a, np.array([[np.log(2.0), 0.0], [0.0, 0.0]]))
    >>> spd.embed(m).round(12)
    array([[4., 0.],
           [0., 8.]])
    """

    n: Annotated[int, Ge(1)]
    retraction: Literal["exp", "second_order"] = "exp"
    transport_by: Literal["parallel", "path"] = "parallel"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise SpecError(f"a matrix has n >= 1 rows, got n={self.n}; choose a larger n")

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def parallel(self) -> bool:
        """Whether `transport_by` says so; "path" is parallel too, but along its own path."""
        return self.transport_by == "parallel"

    @property
    def isometric(self) -> bool:
        """Both transports are."""
        return True

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Sum of the products of coordinates: T_x M x T_x M -> R."""
        return array_namespace(u, v).sum(u * v, axis=(-2, -1))

    def project(self, x: Array, v: Array) -> Array:
        """Symmetric part of v: R^(n x n) -> T_x M."""
        return symmetric_part(v)

    def gradient(self, x: Array, g: Array) -> Array:
        """sym(A^T g) / 2 for the gradient g with respect to A: R^(n x n) -> T_x M.

        A gradient G with respect to X gives sym(A^T G A), the same with g = 2 G A.
        """
        return symmetric_part(x.mT @ g) / 2

    def displacement(self, x: Array, u: Array) -> Array:
        """Velocity A S / 2 of the factor: T_x M -> R^(n x n)."""
        return x @ u / 2

    def embed(self, x: Array) -> Array:
        """X = A A^T."""
        return symmetric_part(x @ x.mT)

    def retract(self, x: Array, u: Array) -> Array:
        """Map T_x M -> M, by `retraction`; A is multiplied by a symmetric matrix."""
        if self.retraction == "exp":
            return self.exp(x, u)
        # 1 + e + e^2/2 as a sum of squares: positive for every e.
        return x @ of_symmetric(u, lambda e: (((1 + e) ** 2 + 1) / 2) ** 0.5)

    def inverse_retract(self, x: Array, y: Array) -> Array:
        """Vector S with retract(x, S) = y up to the choice of factor: M -> T_x M.

        For "second_order" the one with eigenvalues above -1; NaN where there is none, when y is
        less than half of x in some direction.
        """
        if self.retraction == "exp":
            return self.log(x, y)
        r = relative(x, y)
        return composed(r.left, _less_one(r.sigma))

    def exp(self, x: Array, u: Array) -> Array:
        """Geodesic at time 1, the factor A exp(S / 2): T_x M -> M."""
        exp = array_namespace(x, u).exp
        return x @ of_symmetric(u, lambda e: exp(e / 2))

    def log(self, x: Array, y: Array) -> Array:
        """Inverse of exp, of length dist(x, y): M -> T_x M."""
        r = relative(x, y)
        return composed(r.left, _logs(r))

    def dist(self, x: Array, y: Array) -> Array:
        """Distance |log(X^(-1/2) Y X^(-1/2))|_F, shape (...)."""
        logs = _logs(relative(x, y))
        return array_namespace(logs).sum(logs * logs, axis=-1) ** 0.5

    def transport(self, x: Array, y: Array, u: Array) -> Array:
        """Carry S from T_x M to T_y M, by `transport_by`.

        Parallel: O^T S O with O the orthogonal polar factor of A_x^-1 A_y.
        """
        if self.transport_by == "path":
            return u
        o = relative(x, y).polar
        return symmetric_part(o.mT @ u @ o)

    @property
    def dimension(self) -> int:
        """The number n (n + 1) / 2 of entries on and below the diagonal."""
        return self.n * (self.n + 1) // 2

    def coordinates(self, x: Array, u: Array) -> Array:
        """Entries of S on and below the diagonal, the latter times sqrt(2): T_x M -> R^dim."""
        return of_symmetric_matrix(u)

    def from_coordinates(self, x: Array, c: Array) -> Array:
        """Inverse of `coordinates`."""
        return symmetric_matrix(c, self.n)

    def random_point(self, stream: RandomStream, ids: Array) -> Array:
        """Factors exp(S / 2) of matrices exp(S), S standard normal in the tangent space at I."""
        n, count = self.n, self.n * (self.n + 1) // 2
        drawn = stream.normal(ids, 0, count)
        s = np.zeros((*drawn.shape[:-1], n, n))
        rows, columns = np.tril_indices(n)
        s[..., rows, columns] = drawn * np.where(rows == columns, 1.0, 0.5**0.5)
        s[..., columns, rows] = s[..., rows, columns]
        return of_symmetric(s, lambda e: np.exp(e / 2))

    @np.errstate(divide="ignore", invalid="ignore")
    def off_point(self, x: Array) -> Array:
        """0 for a finite factor of full rank, NaN otherwise, shape (...)."""
        xp = array_namespace(x)
        rows = xp.sum(xp.abs(x), axis=-1, keepdims=True)
        sign, size = xp.linalg.slogdet(x / rows)
        return abs(0 * size / sign)

    def off_tangent(self, x: Array, u: Array) -> Array:
        """Frobenius norm of the antisymmetric part, shape (...)."""
        odd = (u - u.mT) / 2
        return array_namespace(u).sum(odd * odd, axis=(-2, -1)) ** 0.5


@np.errstate(divide="ignore")
def _logs(r: Relative) -> Array:
    return 2 * in_whole_vectors(array_namespace(r.sigma).log, r.sigma)


def _less_one(sigma: Array) -> Array:
    """Return e > -1 with 1 + e + e^2/2 = sigma^2, written so that it is exact near sigma = 1."""
    xp = array_namespace(sigma)
    inside = 2 * sigma * sigma - 1
    root = xp.where(inside > 0, inside, xp.full_like(inside, xp.nan)) ** 0.5
    return 2 * (sigma - 1) * (sigma + 1) / (1 + root)
