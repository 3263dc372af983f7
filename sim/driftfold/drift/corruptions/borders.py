"""What lies beyond the edge of a picture: which of its pixels stands there."""

from collections.abc import Callable

import numpy as np

from driftfold.arrays import Ints

Border = Callable[[Ints, int], Ints]
"""Turns places along an axis, also ones beyond 0 .. size - 1, into places that are there."""


def edge(places: Ints, size: int) -> Ints:
    """Repeat the outermost pixel: a a a | a b c d | d d d.

    >>> edge(np.arange(-3, 7), 4).tolist()
    [0, 0, 0, 0, 1, 2, 3, 3, 3, 3]
    """
    return np.clip(places, 0, size - 1)


def mirror(places: Ints, size: int) -> Ints:
    """Mirror in the outermost pixel: d c b | a b c d | c b a.

    >>> mirror(np.arange(-3, 7), 4).tolist()
    [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]
    """
    period = 2 * (size - 1)
    within = places % period
    return np.minimum(within, period - within)


def reflect(places: Ints, size: int) -> Ints:
    """Mirror in the edge itself: c b a | a b c d | d c b.

    >>> reflect(np.arange(-3, 7), 4).tolist()
    [2, 1, 0, 0, 1, 2, 3, 3, 2, 1]
    """
    within = places % (2 * size)
    return np.minimum(within, 2 * size - 1 - within)
