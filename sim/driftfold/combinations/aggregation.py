"""Sums over clients, in one fixed order and in float64."""

import numpy as np

from driftfold.arrays import Array, Floats, along

_TILE = 2**17  # numbers that are scaled at a time


def weighted_sum(weights: Floats, vectors: Array, bases: Array | None = None) -> Array:
    """Sum of w_i v_i, or of w_i (v_i - b_i), over the leading axis, added in order of the rows.

    The order of a floating sum changes its last bits; arrivals come in ascending order of client
    id, so this one is the same whatever order they arrived in. Sums in float64, returns the
    vectors' own type.

    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1.0], [10.0]]))
    array([21.])
    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1.0], [10.0]]), np.array([[1.0], [8.0]]))
    array([4.])
    """
    if vectors.size <= _TILE or vectors.size == len(vectors):  # one column is summed in pairs
        ways = vectors if bases is None else vectors - bases
        scaled = np.multiply(along(weights, ways), ways, order="C")  # rows lie apart: one order
        total: Array = np.add.reduce(scaled, axis=0)
        return total.astype(vectors.dtype, copy=False)
    tile = max(1, _TILE // vectors[0].size)
    scaled = np.zeros((tile + 1, *vectors.shape[1:]), np.result_type(weights, vectors))
    for start in range(0, len(vectors), tile):  # the sum so far goes first: the order is the same
        some = vectors[start : start + tile]
        if bases is not None:
            some = some - bases[start : start + tile]
        np.multiply(along(weights[start : start + tile], some), some, out=scaled[1 : len(some) + 1])
        first = 1 if start == 0 else 0  # 0 + -0 is not -0
        scaled[0] = np.add.reduce(scaled[first : len(some) + 1], axis=0)
    return scaled[0].astype(vectors.dtype)
