"""Medians and trimmed means of numbers with weights, for many coordinates at once.

Clients are first put in order of their weights, so that results do not depend, not even in their
last bits, on the order in which they are given.
"""

from collections.abc import Callable

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.manifolds.base import Framed, Manifold

_NUMBERS = 2**17  # that are sorted at a time: a megabyte, which stays in cache
_ROUNDING = 1e-12  # of the whole weight: less is no weight but what sums of weights are off by

Rule = Callable[[Floats, Floats], Floats]
"""A figure of each row, (n,), from weights and numbers in ascending order, (n, k).

Where all weights are one number, they are one row, (k,).
"""


def by_column(rule: Rule, weights: Floats, vectors: Array) -> Floats:
    """Apply a rule to each coordinate of vectors of shape (k, *shape), with weights (k,).

    >>> by_column(median, np.array([1.0, 1.0, 2.0]), np.array([[1.0, 5.0], [9.0, 6.0], [4.0, 9.0]]))
    array([4. , 7.5])
    """
    some = np.argsort(weights, kind="stable")
    weights, columns = weights[some], vectors.reshape(len(vectors), -1)
    figures = np.empty(columns.shape[1])
    tile = max(1, _NUMBERS // len(columns))
    for start in range(0, columns.shape[1], tile):
        part = columns[some, start : start + tile].T.astype(np.float64, order="C")
        if weights[0] == weights[-1]:  # sorting alone is several times as fast
            figures[start : start + tile] = rule(weights, np.sort(part, axis=-1))
        else:
            order = np.argsort(part, axis=-1, kind="stable")
            numbers = np.take_along_axis(part, order, axis=-1)
            figures[start : start + tile] = rule(weights[order], numbers)
    return figures.reshape(vectors.shape[1:])


def tangent_location(
    rule: Rule, manifold: Manifold, x: Array, weights: Floats, vectors: Array
) -> Array:
    """Apply a rule to coordinates of tangent vectors in an orthonormal frame of T_x M.

    The frame is that of `Framed` manifolds; figures other than the mean depend on how it is turned.
    A manifold without frames lends the coordinates of its arrays, and what comes out is projected.
    """
    if isinstance(manifold, Framed):
        middle = by_column(rule, weights, manifold.coordinates(x, vectors))
        return manifold.from_coordinates(x, middle.astype(vectors.dtype))
    return manifold.project(x, by_column(rule, weights, vectors).astype(vectors.dtype))


def median(weights: Floats, numbers: Floats) -> Floats:
    """Where half of the weight is passed; the middle of two numbers where that is between them."""
    below = np.cumsum(weights, axis=-1)
    half = below[..., -1:] / 2
    low = _at((below >= half * (1 - _ROUNDING)).argmax(axis=-1), numbers)
    high = _at((below > half * (1 + _ROUNDING)).argmax(axis=-1), numbers)
    return low + (high - low) / 2


def trimmed_mean(share: float) -> Rule:
    """Return the rule of the mean of what is left without `share` of the weight at each end.

    >>> trimmed_mean(0.25)(np.ones(4), np.array([[1.0, 2.0, 4.0, 100.0]]))
    array([3.])
    """

    def rule(weights: Floats, numbers: Floats) -> Floats:
        below = np.cumsum(weights, axis=-1)
        total = below[..., -1:]
        edges = np.clip(below, share * total, (1 - share) * total)
        kept = np.diff(edges, axis=-1, prepend=share * total)
        kept[kept < _ROUNDING * total] = 0.0
        mean: Floats = (kept * numbers).sum(axis=-1) / kept.sum(axis=-1)
        return mean

    return rule


def _at(place: Ints, numbers: Floats) -> Floats:
    places = np.broadcast_to(place, numbers.shape[:1])[:, None]
    found: Floats = np.take_along_axis(numbers, places, axis=-1)[:, 0]
    return found
