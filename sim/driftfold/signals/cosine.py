"""Cosines of means, one pair a client."""

import numpy as np

from driftfold.arrays import Floats

TINY = 1e-12
"""Lengths below count as none: nothing points anywhere."""


def inner(a: Floats, b: Floats) -> Floats:
    """Inner products (...) of rows (..., K), each summed for itself.

    >>> inner(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([11.])
    """
    product: Floats = (a * b).sum(axis=-1)
    return product


def cosine_distance(a: Floats, b: Floats) -> Floats:
    """1 - cos(a, b), shape (...) of rows (..., K), from 0 to 2; 0 where a row is (nearly) 0.

    For unit vectors it is half their squared distance, which loses no digits where they nearly
    agree, as 1 - cos does.

    >>> uniform, one = np.full(10, 0.1), np.eye(10)[0]
    >>> cosine_distance(uniform, one).round(6)
    np.float64(0.683772)
    """
    lengths = [np.sqrt(inner(x, x)) for x in (a, b)]
    there = (lengths[0] >= TINY) & (lengths[1] >= TINY)
    # Not finite is not nothing: it has to be seen in the result.
    there |= np.isnan(lengths[0]) | np.isnan(lengths[1])
    units = [x / np.where(there, r, 1.0)[..., None] for x, r in zip((a, b), lengths, strict=True)]
    off = units[0] - units[1]
    distance: Floats = np.where(there, 0.5 * inner(off, off), 0.0)
    return distance
