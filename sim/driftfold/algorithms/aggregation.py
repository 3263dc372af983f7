"""Sums over clients, in one fixed order and in float64."""

import numpy as np

from driftfold.arrays import Array, Floats


def weighted_sum(weights: Floats, vectors: Array) -> Array:
    """Sum of w_i v_i over the leading axis, added in order of the rows.

    The order of a floating sum changes its last bits; arrivals come in ascending order of client
    id, so this one is the same whatever order they arrived in. Sums in float64, returns the
    vectors' own type.

    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1.0], [10.0]]))
    array([21.])
    """
    scaled = along(weights, vectors) * vectors
    total: Array = np.add.reduce(scaled, axis=0)
    return total.astype(vectors.dtype, copy=False)


def along(factors: Array, points: Array) -> Array:
    """View per-client factors so that they multiply points with the same leading axes."""
    return factors.reshape(factors.shape + (1,) * (points.ndim - factors.ndim))
