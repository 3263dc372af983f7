"""Vectors of length 1."""

import numpy as np

from driftfold.arrays import Array


def unit_length(rows: Array) -> Array:
    """Divide each row by its length, in float64, and return float32; rows of zeros stay.

    >>> unit_length(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
