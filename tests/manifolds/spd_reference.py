"""The logarithm of one positive definite matrix at another, in 80 digits, from stored factors."""

from typing import Any

import mpmath
import numpy as np

from driftfold.arrays import Array

mp = mpmath.mp.clone()
mp.dps = 80


def log(a: Array, m: Array) -> Any:
    """log(a^-1 m m^T a^-T), the coordinates of the logarithm in the frame of a."""
    seen = _matrix(a) ** -1 * _matrix(m)
    square = seen * seen.T
    values, vectors = mp.eigsy((square + square.T) / 2)
    return vectors * mp.diag([mp.log(value) for value in values]) * vectors.T


def norm(s: Any) -> float:
    return float(mp.norm(s, 2))


def distance(s: Array, exact: Any) -> float:
    """Frobenius distance of computed coordinates from exact ones."""
    assert np.isfinite(s).all()
    return norm(_matrix(s) - exact)


def _matrix(a: Array) -> Any:
    return mp.matrix([[mp.mpf(float(value)) for value in row] for row in a])
