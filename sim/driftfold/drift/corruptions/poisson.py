"""Poisson counts addressed by key: as many uniform numbers for every mean."""

import math
from functools import cache

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.lanes import in_whole_vectors

_TAIL = 25
"""Counts above a mean below 1 that are thought of: more have a probability below 10^-25."""


def poisson(means: Floats, whole: Floats, rest: Floats) -> Ints:
    """Poisson counts of `means`, from two uniform numbers in [0, 1) each.

    A count of mean a + b is the sum of independent counts of the means a and b. The whole part a of
    a mean is inverted in a table, the rest b by adding up probabilities, so that every count is
    inverted exactly, up to the rounding of probabilities to 2^-53.

    Parameters
    ----------
    means
        At least 0 and at most some hundreds (the table has a row for each whole number up to
        them), any shape.
    whole, rest
        Uniform numbers of the same shape.

    >>> u = np.array([0.0, 0.5, 0.999])
    >>> poisson(np.full(3, 100.25), whole=u, rest=u)
    array([  0, 100, 135])
    """
    parts = np.floor(means)
    top = int(parts.max(initial=0.0))
    table = _table(1 << top.bit_length())  # few tables for any number of means
    return _inverted(table, parts.astype(np.int64), whole) + _added_up(means - parts, rest)


@cache
def _table(rows: int) -> Floats:
    """P(count <= k) for the means 0 .. rows - 1, shape (rows, a power of two); the last is 1."""
    enough = rows + 10 * math.isqrt(rows) + _TAIL
    columns = 1 << enough.bit_length()
    counts = np.arange(1, columns)
    logs = np.concatenate([[0.0], np.cumsum(np.log(counts))])
    means = np.arange(1, rows)[:, None]
    chances = np.exp(np.arange(columns) * np.log(means) - means - logs)
    table = np.ones((rows, columns))  # of mean 0 the count is 0
    np.cumsum(chances, axis=1, out=table[1:])
    table[:, -1] = 1.0
    table.flags.writeable = False
    return table


def _inverted(table: Floats, rows: Ints, uniform: Floats) -> Ints:
    """Smallest k with uniform < table[row, k], by bisection."""
    columns = table.shape[1]
    flat, starts = table.reshape(-1), rows * columns
    found = np.zeros(rows.shape, np.int64)
    step = columns // 2
    while step:
        beyond = flat[starts + found + (step - 1)] <= uniform
        found += step * beyond
        step //= 2
    return found


def _added_up(means: Floats, uniform: Floats) -> Ints:
    """Counts of means below 1."""
    chance = in_whole_vectors(np.exp, -means)
    below = chance.copy()
    counts = np.zeros(means.shape, np.int64)
    for k in range(1, _TAIL):
        more = uniform >= below
        if not more.any():
            break
        counts += more
        chance = chance * (means / k)
        below += chance
    return counts
