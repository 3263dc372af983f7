"""Sums over clients, in one fixed order and in float64."""

from typing import Any

import numpy as np

from driftfold.arrays import Array, Floats, along
from driftfold.native import exact

_FLOAT64 = np.dtype(np.float64)
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
    if bases is None and vectors.size > len(vectors) and _plain(weights) and _plain(vectors):
        fast = exact()
        if fast is not None:
            return fast.weighted_sum(weights, vectors)
    if vectors.size <= _TILE or vectors.size == len(vectors):  # one column is summed in pairs
        ways = vectors if bases is None else vectors - bases
        scaled = np.multiply(along(weights, ways), ways, order="C")  # rows lie apart: one order
        total: Array = np.add.reduce(scaled, axis=0)
        return total.astype(vectors.dtype, copy=False)
    running = RunningSum()
    running.add(weights, vectors, bases)
    return running.value


def _plain(array: Array) -> bool:
    return type(array) is np.ndarray and array.dtype == _FLOAT64 and array.flags.c_contiguous


class RunningSum:
    """A weighted sum of rows that come block by block, as `weighted_sum` gives it for all at once.

    To the last bit, wherever the blocks begin and end, for vectors of two and more numbers.

    >>> total = RunningSum()
    >>> total.add(np.array([1.0]), np.array([[1.0, 2.0]]))
    >>> total.add(np.array([2.0]), np.array([[10.0, 20.0]]), np.array([[8.0, 18.0]]))
    >>> total.value
    array([5., 6.])
    """

    def __init__(self) -> None:
        self._total: Array | None = None
        self._dtype: np.dtype[Any] | None = None

    def add(self, weights: Floats, vectors: Array, bases: Array | None = None) -> None:
        """Add w_i v_i, or w_i (v_i - b_i), in order of the rows."""
        self._dtype = vectors.dtype
        tile = max(1, min(len(vectors), _TILE // max(1, vectors[0].size)))
        scaled = np.empty((tile + 1, *vectors.shape[1:]), np.result_type(weights, vectors))
        for start in range(0, len(vectors), tile):
            some = vectors[start : start + tile]
            if bases is not None:
                some = some - bases[start : start + tile]
            some_weights = along(weights[start : start + tile], some)
            np.multiply(some_weights, some, out=scaled[1 : len(some) + 1])
            first = 1  # 0 + -0 is not -0
            if self._total is not None:  # the sum so far goes first: the order is the same
                scaled[0], first = self._total, 0
            self._total = np.add.reduce(scaled[first : len(some) + 1], axis=0)

    @property
    def value(self) -> Array:
        """The sum so far, in the vectors' own type."""
        if self._total is None:
            raise ValueError("nothing was added yet; a sum of no vectors has no shape")
        return self._total.astype(self._dtype)
