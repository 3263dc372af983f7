"""Columns with one entry for each client, of which a round changes the responders'."""

from typing import TypeVar

import numpy as np

from driftfold.arrays import Floats, Ints

T = TypeVar("T", bound=np.generic)


def replaced(
    column: np.ndarray[tuple[int, ...], np.dtype[T]],
    clients: Ints,
    entries: np.ndarray[tuple[int, ...], np.dtype[T]] | int,
) -> np.ndarray[tuple[int, ...], np.dtype[T]]:
    """Return a copy, shape (N, ...), with other entries of `clients`, distinct ids of shape (k,).

    >>> replaced(np.zeros(3), np.array([2]), np.array([5.0]))
    array([0., 0., 5.])
    """
    made = column.copy()
    made[clients] = entries
    return made


def never(size: int) -> Ints:
    """Round of the last response of `size` clients before the first round: 0."""
    return np.zeros(size, dtype=np.int64)


def power(factor: float, rounds: Ints) -> Floats:
    """Factor^rounds: what is left of an entry that shrinks by `factor` in each round."""
    left: Floats = np.power(factor, rounds, dtype=np.float64)
    return left
