"""References of 40 digits for turns X -> f(W) X of orthonormal rows, by mpmath."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import mpmath as mp
import numpy as np

from driftfold.arrays import Array, Floats

Matrix: TypeAlias = Any
"""An `mpmath.matrix`, which has no static type."""


@contextmanager
def many() -> Iterator[None]:
    """40 digits; steps of 1e-12 or 1e6 cost some twenty of them."""
    with mp.workdps(40):
        yield


def columns(rows: Array) -> Matrix:
    """Rows as exact columns."""
    return mp.matrix(np.asarray(rows, np.float64).T.tolist())


def rows(columns: Matrix) -> Floats:
    """Columns rounded to rows."""
    return np.array(columns.tolist(), dtype=np.float64).T


def generator(x: Matrix, u: Matrix) -> Matrix:
    """W = P U X^T - X U^T P with P = I - X X^T / 2: skew, and W X = U for tangent U."""
    turn = u * x.T - x * (x.T * u) * x.T / 2
    return turn - turn.T


def cayley(w: Matrix) -> Matrix:
    """Cayley transform (I - W/2)^-1 (I + W/2)."""
    eye = mp.eye(w.rows)
    return mp.inverse(eye - w / 2) * (eye + w / 2)


def exponential(w: Matrix) -> Matrix:
    """Matrix exponential."""
    return mp.expm(w, method="taylor")


def turned(f: Callable[[Matrix], Matrix], x: Array, u: Array, v: Array) -> Floats:
    """Rows of f(W) V."""
    with many():
        return rows(f(generator(columns(x), columns(u))) * columns(v))
