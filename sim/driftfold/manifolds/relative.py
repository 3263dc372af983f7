"""One positive definite matrix in the frame of another, from factors of both."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.manifolds.small_matrices import by_item

# Singular values of a^-1 m are known to eps times their spread. Beyond this one it pays to look for
# better factors first. All choices are by item, so that company moves no bits.
_SPREAD = 100
# Condition, columns scaled to length 1, up to which a factor is good as it is. Triangular ones are,
# and those with nearly orthogonal columns, whose small columns have all their digits.
_CONDITION = 300


class Relative(NamedTuple):
    """a^-1 m = U diag(sigma) V^T: sigma^2 are the eigenvalues of X^-1 Y, X = a a^T, Y = m m^T."""

    left: Array
    """U, shape (..., n, n)."""
    sigma: Array
    """Largest first, shape (..., n)."""
    right: Array
    """V, shape (..., n, n)."""

    @property
    def polar(self) -> Array:
        """Orthogonal polar factor U V^T."""
        return self.left @ self.right.mT


@np.errstate(divide="ignore", invalid="ignore")
def relative(a: Array, m: Array) -> Relative:
    """Decompose a^-1 m for factors of shape (..., n, n); NaN where a is singular.

    Singular values of factors keep twice the digits that eigenvalues of a^-1 Y a^-T would. But two
    factors of one matrix differ by a rotation, and in a bad one huge numbers nearly cancel; where X
    and Y are far apart, such a factor is replaced by the triangular one.

    >>> relative(np.diag([1.0, 2.0]), np.diag([1e9, 2e-9])).sigma
    array([1.e+09, 1.e-09])
    """
    xp = array_namespace(a, m)
    a, m = xp.broadcast_arrays(a, m)
    n = a.shape[-1]
    # What goes in has the shape of what comes out, so that NaN can take its place.
    both = xp.concat([a, xp.zeros_like(a[..., :1]), m], axis=-1)
    packed = by_item(_of_both(_decomposed), both)
    spread = packed[..., 0, n] / packed[..., -1, n]
    hard = ~(spread <= _SPREAD)
    if xp.any(hard):
        packed[hard] = by_item(_of_both(_with_good_factors), both[hard])
    return Relative(packed[..., :n], packed[..., n], packed[..., n + 1 :])


def _of_both(decompose: Callable[[Array, Array], Array]) -> Callable[[Array], Array]:
    return lambda both: decompose(both[..., : both.shape[-2]], both[..., both.shape[-2] + 1 :])


def _decomposed(a: Array, m: Array) -> Array:
    xp = array_namespace(a, m)
    left, sigma, right = xp.linalg.svd(xp.linalg.solve(a, m), full_matrices=False)
    return xp.concat([left, sigma[..., None], right.mT], axis=-1)


def _with_good_factors(a: Array, m: Array) -> Array:
    """Decompose after a = a' Q and m = m' P, turn the singular vectors back."""
    xp = array_namespace(a, m)
    n = a.shape[-1]
    (a, q), (m, p) = _good(a, ascending=True), _good(m, ascending=False)
    packed = _decomposed(a, m)
    left, right = q @ packed[..., :n], p @ packed[..., n + 1 :]
    return xp.concat([left, packed[..., n : n + 1], right], axis=-1)


def _good(a: Array, ascending: bool) -> tuple[Array, Array]:
    """Return a good factor L of a a^T, columns sorted by length, and Q with a = L Q^T."""
    xp = array_namespace(a)
    q, upper = xp.linalg.qr(a.mT)
    scaled = xp.linalg.svdvals(a / _column_lengths(a))
    good = (scaled[..., :1] <= _CONDITION * scaled[..., -1:])[..., None]
    eye = xp.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    chosen, q = xp.where(good, a, upper.mT), xp.where(good, eye, q)
    lengths = _column_lengths(chosen)
    order = xp.argsort(lengths if ascending else -lengths, axis=-1, stable=True)
    order = xp.broadcast_to(order, a.shape)
    return xp.take_along_axis(chosen, order, axis=-1), xp.take_along_axis(q, order, axis=-1)


def _column_lengths(a: Array) -> Array:
    return array_namespace(a).sum(a * a, axis=-2, keepdims=True) ** 0.5
