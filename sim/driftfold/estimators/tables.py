"""Columns with one entry for each client, of which a round changes the responders'."""

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column


def never(size: int) -> Column[np.int64]:
    """Round of the last response of `size` clients before the first round: 0."""
    return Column(np.zeros(size, dtype=np.int64))


def power(factor: float, rounds: Ints) -> Floats:
    """Factor^rounds: what is left of an entry that shrinks by `factor` in each round."""
    left: Floats = np.power(factor, rounds, dtype=np.float64)
    return left
