"""Steps on the Grassmann manifold that turn each principal plane: geodesic and Cayley curve.

Both are X c(M) + U s(M) in functions of the small M = U^T U, without a division by a singular
value; so tiny, zero and repeated ones cost no accuracy. Shapes (..., r, d), rows.
"""

from collections.abc import Callable

import numpy as np

from driftfold.arrays import Array, array_namespace
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.orthonormal import polar_factor, polished
from driftfold.manifolds.small_matrices import by_item, eigh, redo, solve

_LONG = 1e2
"""Squared length above which M has lost the digits of the shorter singular values."""


@np.errstate(over="ignore", invalid="ignore")
def exp(x: Array, u: Array) -> Array:
    """Geodesic at time 1 from x along the horizontal u (Edelman, Arias, Smith 1998, eq. 2.65).

    >>> exp(np.array([[1.0, 0.0]]), np.array([[0.0, np.pi / 2]])).round(12)
    array([[0., 1.]])
    """
    xp = array_namespace(x, u)
    gram = u @ u.mT
    values, vectors = eigh(gram)
    angles = xp.where(values > 0, values, 0 * values) ** 0.5
    sinc = in_whole_vectors(xp.sin, angles) / xp.where(angles > 0, angles, xp.ones_like(angles))
    sinc = xp.where(angles > 0, sinc, 1 + angles)
    y = _scaled(vectors, in_whole_vectors(xp.cos, angles)) @ x
    y += _scaled(vectors, sinc) @ u
    return _long_redone(y, gram, x, u, _circle)


@np.errstate(over="ignore", invalid="ignore")
def cayley(x: Array, u: Array) -> Array:
    """Cayley retraction X + U - (X/2 + U/4) (I + M/4)^-1 M, by one r x r solve (Zhu, Sato 2021).

    It turns each principal plane by 2 atan(s/2), where the geodesic turns it by s.

    >>> cayley(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]]))
    array([[0., 1.]])
    """
    xp = array_namespace(x, u)
    gram = u @ u.mT
    eye = xp.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    change = solve(eye + 0.25 * gram, -0.5 * gram)
    y = (eye + change) @ x
    y += (eye + 0.5 * change) @ u
    return _long_redone(y, gram, x, u, _half_tangent)


def _long_redone(
    y: Array, gram: Array, x: Array, u: Array, turn: Callable[[Array], tuple[Array, Array]]
) -> Array:
    """Replace the ends of long steps by those from the singular vectors of u itself; polish all."""
    xp = array_namespace(x, u)
    long = ~(gram.diagonal(0, -2, -1).sum(-1) <= _LONG)
    if long.any():
        redo(long, y, _by_singular_vectors(turn), x + xp.zeros_like(y), u + xp.zeros_like(y))
    return polished(y)


def _by_singular_vectors(turn: Callable[[Array], tuple[Array, Array]]) -> Callable[..., Array]:
    def turned(x: Array, u: Array) -> Array:
        left, lengths, right = array_namespace(u).linalg.svd(u, full_matrices=False)
        cosine, sine = turn(lengths)
        y = _scaled(left, cosine) @ x + (left * sine[..., None, :]) @ right
        # A direction shorter than |u| by a factor f is orthogonal to x only to eps f.
        return polar_factor(y)

    return lambda x, u: by_item(turned, x, u)


def _circle(lengths: Array) -> tuple[Array, Array]:
    xp = array_namespace(lengths)
    return in_whole_vectors(xp.cos, lengths), in_whole_vectors(xp.sin, lengths)


def _half_tangent(lengths: Array) -> tuple[Array, Array]:
    square = 0.25 * lengths * lengths
    return (1 - square) / (1 + square), lengths / (1 + square)


def _scaled(vectors: Array, values: Array) -> Array:
    return (vectors * values[..., None, :]) @ vectors.mT
