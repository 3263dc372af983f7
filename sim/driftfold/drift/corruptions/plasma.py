"""Plasma: clouds whose detail decays from scale to scale."""

import numpy as np

from driftfold.arrays import Floats


def plasma(uniform: Floats, size: int, decay: float) -> Floats:
    """Maps of clouds in [0, 1] by the diamond-square method, shape (n, size, size).

    From one corner the map, which goes on over its edges, is refined: each new point is the mean of
    the four around it plus w^2 times a uniform number in [-1, 1), and w falls by `decay` from one
    scale to the next. At last the least value becomes 0 and the greatest 1.

    Parameters
    ----------
    uniform
        Numbers in [0, 1), shape (n, size^2 - 1): one for each point but the first.
    size
        A power of two, at least 2.
    decay
        Greater: smoother.

    >>> from driftfold.rng import Seed
    >>> clouds = plasma(Seed(0).stream("clouds").uniform(np.arange(3), 0, 63), 8, decay=2.0)
    >>> clouds.shape, clouds.min(axis=(1, 2)).tolist(), clouds.max(axis=(1, 2)).tolist()
    ((3, 8, 8), [0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    """
    signed = 2 * uniform - 1
    heights = np.zeros((len(uniform), size, size))
    used, step, wobble = 0, size, 1.0

    def fill(rows: slice, columns: slice, around: Floats) -> None:
        nonlocal used
        count = around[0].size if len(around) else 0
        noise = signed[:, used : used + count].reshape(around.shape)
        heights[:, rows, columns] = around / 4 + wobble**2 * noise
        used += count

    while step >= 2:
        old, new = slice(0, size, step), slice(step // 2, size, step)
        corners = heights[:, old, old]
        pairs = corners + np.roll(corners, -1, axis=1)
        fill(new, new, pairs + np.roll(pairs, -1, axis=2))
        middles = heights[:, new, new]
        beside = middles + np.roll(middles, 1, axis=1)
        below = middles + np.roll(middles, 1, axis=2)
        fill(old, new, beside + corners + np.roll(corners, -1, axis=2))
        fill(new, old, below + corners + np.roll(corners, -1, axis=1))
        step //= 2
        wobble /= decay
    heights -= heights.min(axis=(1, 2), keepdims=True)
    scaled: Floats = heights / heights.max(axis=(1, 2), keepdims=True)
    return scaled
