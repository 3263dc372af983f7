"""Rows of two trees mixed: what is new for some clients, and what was known for the others."""

from typing import TypeVar

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.trees import map_leaves

T = TypeVar("T")


def chosen(which: Bools, these: T, others: T) -> T:
    """Rows of one tree where `which`, (k,), and of another of its structure where not.

    >>> chosen(np.array([True, False]), {"x": np.ones((2, 1))}, {"x": np.zeros((2, 1))})
    {'x': array([[1.],
           [0.]])}
    """

    def pick(one: Array, other: Array) -> Array:
        return np.where(which.reshape(-1, *[1] * (one.ndim - 1)), one, other)

    return map_leaves(pick, these, others)
