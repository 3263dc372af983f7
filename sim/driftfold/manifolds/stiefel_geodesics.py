"""Geodesics of the Stiefel manifold, and the Cayley curve beside them, for steps of any length.

Points and tangent vectors are rows, shape (..., r, d). A tangent vector splits into U = X A + Q R
(in columns): A = X^T U turns the r vectors among themselves, R turns them towards an orthonormal
basis Q of the rest. All exponentials are then of skew-symmetric matrices of size 2r.
"""

from collections.abc import Callable

from driftfold.arrays import Array, array_namespace
from driftfold.manifolds.orthonormal import polar_factor, polished
from driftfold.manifolds.small_matrices import cayley_skew, expm_skew, qr, redo, skew

LONG = 1e2
"""Squared length above which a step loses digits that its end needs to be orthonormal."""


def euclidean_exp(x: Array, u: Array) -> Array:
    """Geodesic of the Euclidean (trace) metric at time 1 (Edelman, Arias, Smith 1998, 2.2.2)."""

    def turn(a: Array, upper: Array) -> Array:
        return expm_skew(_generator(2 * a, upper))[..., : a.shape[-1]] @ expm_skew(-a)

    return _turned(x, u, turn)


def canonical_exp(x: Array, u: Array) -> Array:
    """Geodesic of the canonical metric at time 1 (Edelman, Arias, Smith 1998, eq. 2.42)."""
    return _turned(x, u, lambda a, upper: expm_skew(_generator(a, upper))[..., : a.shape[-1]])


def cayley_curve(x: Array, u: Array) -> Array:
    """Cayley transform instead of the exponential: slower than `cayley.retract`, for long u."""
    return _turned(x, u, lambda a, upper: cayley_skew(_generator(a, upper))[..., : a.shape[-1]])


def _turned(x: Array, u: Array, turn: Callable[[Array, Array], Array]) -> Array:
    """Rows of [X Q] T, where T = turn(A, R) has shape (..., 2r, r)."""
    xp = array_namespace(x, u)
    r = x.shape[-2]
    x = x + xp.zeros_like(u)
    a = skew(x @ u.mT)
    q, upper = qr((u + a @ x).mT)
    turned = turn(a, upper)
    y = turned[..., :r, :].mT @ x + turned[..., r:, :].mT @ q.mT
    # A row of q that is shorter than |u| by a factor f is orthogonal to x only to eps f.
    redo(~(xp.sum(u * u, axis=(-2, -1)) <= LONG), y, polar_factor, y)
    return polished(y)


def _generator(a: Array, upper: Array) -> Array:
    xp = array_namespace(a)
    above = xp.concat([a, -upper.mT], axis=-1)
    below = xp.concat([upper, xp.zeros_like(a)], axis=-1)
    return xp.concat([above, below], axis=-2)
