"""Convex quadratics over x >= 0, many small ones at once.

Kim, J., Park, H.: "Fast nonnegative matrix factorization: an active-set-like method and
comparisons", SIAM Journal on Scientific Computing 2011: block principal pivoting, with the backup
rule that makes it finite.
"""

import numpy as np

from driftfold.arrays import Bools, Floats

_TRIES = 3
"""Full exchanges that may fail to get nearer before single ones are made."""


def nonnegative(q: Floats, c: Floats, positive: Bools) -> Floats:
    """Minimise x'Qx / 2 - c'x over x >= 0: x (k, K) of positive definite Q (k, K, K) and c (k, K).

    `positive` (k, K) is a guess of which entries are above 0. Each problem is solved for itself:
    its bits do not depend on the others.

    >>> q = np.array([[[2.0, 1.0], [1.0, 2.0]]])
    >>> nonnegative(q, np.array([[1.0, -1.0]]), np.ones((1, 2), bool))
    array([[0.5, 0. ]])
    """
    k, size = c.shape
    x, free = np.zeros_like(c), positive.copy()
    tolerance = 1e-13 * np.abs(c).max(axis=-1, initial=1e-300)
    best, tries = np.full(k, size + 1), np.full(k, _TRIES)
    todo = np.arange(k)
    for _ in range(100 + 10 * size):
        x[todo], wrong = _pivot(q[todo], c[todo], free[todo], tolerance[todo])
        count = wrong.sum(axis=-1)
        left = count > 0
        todo, wrong, count = todo[left], wrong[left], count[left]
        if not todo.size:
            break
        nearer = count < best[todo]
        best[todo] = np.where(nearer, count, best[todo])
        tries[todo] = np.where(nearer, _TRIES, tries[todo] - 1)
        last = size - 1 - wrong[:, ::-1].argmax(axis=-1)
        single = np.arange(size) == last[:, None]
        free[todo] ^= np.where((tries[todo] >= 0)[:, None], wrong, single)
    return np.maximum(x, 0.0)


def _pivot(q: Floats, c: Floats, free: Bools, tolerance: Floats) -> tuple[Floats, Bools]:
    """Minimise with the other entries at 0; where the conditions of the minimum fail."""
    size = c.shape[-1]
    both = free[:, :, None] & free[:, None, :]
    matrix = np.where(both, q, 0.0) + np.eye(size) * ~free[:, :, None]
    x: Floats = np.linalg.solve(matrix, np.where(free, c, 0.0)[..., None])[..., 0].astype(
        np.float64
    )
    slope = (q @ x[..., None])[..., 0] - c
    below = -tolerance[:, None]
    return x, np.where(free, x < below, slope < below)
