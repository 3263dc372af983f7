"""The loss of embeddings: of some nodes, the related one should be the nearest."""

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.base import Geodesic


def ranking_loss(space: Geodesic, x: Array, real: Bools) -> Array:
    """-log(e^-d_1 / sum_k e^-d_k) with d_k = dist(x_0, x_k), shape (...).

    Parameters
    ----------
    space
        Where the points are; one axis each.
    x
        A node, the one it is related to, and others, shape (..., 2 + count, dim).
    real
        Which of the others count, shape (..., count).

    Examples
    --------
    >>> from driftfold.manifolds.euclidean import Euclidean
    >>> x = np.array([[0.0], [1.0], [-1.0], [5.0]])
    >>> float(ranking_loss(Euclidean(1), x, np.array([True, False])).round(6))  # log 2
    0.693147
    """
    d = space.dist(x[..., :1, :], x[..., 1:, :])
    return -_log_shares(d, real)[..., 0]


def pull_and_push(space: Geodesic, x: Array, real: Bools) -> Array:
    """Gradient of `ranking_loss` for each point, shape of x; 0 between points that coincide.

    dist(x, y) has the gradient -Log_x y / dist(x, y) in x. Where two points coincide it has none.

    >>> from driftfold.manifolds.euclidean import Euclidean
    >>> x = np.array([[0.0], [1.0], [-1.0], [5.0]])
    >>> pull_and_push(Euclidean(1), x, np.array([True, False]))[:, 0] + 0.0
    array([-1. ,  0.5,  0.5,  0. ])
    """
    first, others = x[..., :1, :], x[..., 1:, :]
    there, back = space.log(first, others), space.log(others, first)
    d = np.sqrt((there * there).sum(axis=-1))
    slopes = -in_whole_vectors(np.exp, _log_shares(d, real))
    slopes[..., 0] += 1
    slopes /= np.where(d > 0, d, 1)
    out = np.empty_like(x)
    np.matmul(-slopes[..., None, :], there, out=out[..., :1, :])
    np.multiply(-slopes[..., None], back, out=out[..., 1:, :])
    return out


def _log_shares(d: Array, real: Bools) -> Array:
    """log(e^-d_k / sum e^-d), over those that count; -infinity for the others."""
    scores = -d
    scores[..., 1:] = np.where(real, scores[..., 1:], -np.inf)
    scores = scores - scores.max(axis=-1, keepdims=True)
    total = in_whole_vectors(np.exp, scores).sum(axis=-1, keepdims=True)
    shares: Array = scores - in_whole_vectors(np.log, total)
    return shares
