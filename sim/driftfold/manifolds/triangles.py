"""Symmetric and skew-symmetric matrices as lists of their entries, scaled to equal length."""

import numpy as np

from driftfold.arrays import Array, array_namespace

_ROOT = 2**0.5


def of_symmetric_matrix(a: Array) -> Array:
    """Entries on and below the diagonal, the latter times sqrt(2): (..., n, n) -> (..., m).

    m = n (n + 1) / 2; the list is as long as the matrix in the Frobenius norm.

    >>> of_symmetric_matrix(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3)
    array([1.   , 2.828, 3.   ])
    """
    rows, columns = np.tril_indices(a.shape[-1])
    return a[..., rows, columns] * _scales(a, rows == columns)


def symmetric_matrix(c: Array, n: int) -> Array:
    """Inverse of `of_symmetric_matrix`: (..., m) -> (..., n, n)."""
    xp = array_namespace(c)
    rows, columns = np.tril_indices(n)
    entries = c / _scales(c, rows == columns)
    a = xp.zeros((*c.shape[:-1], n, n), dtype=c.dtype, device=c.device)
    a[..., rows, columns] = entries
    a[..., columns, rows] = entries
    return a


def of_skew_matrix(a: Array) -> Array:
    """Entries below the diagonal, times sqrt(2): (..., r, r) -> (..., r (r - 1) / 2).

    >>> of_skew_matrix(np.array([[0.0, -2.0], [2.0, 0.0]])).round(3)
    array([2.828])
    """
    rows, columns = np.tril_indices(a.shape[-1], -1)
    return a[..., rows, columns] * _ROOT


def skew_matrix(c: Array, r: int) -> Array:
    """Inverse of `of_skew_matrix`: (..., r (r - 1) / 2) -> (..., r, r)."""
    xp = array_namespace(c)
    rows, columns = np.tril_indices(r, -1)
    a = xp.zeros((*c.shape[:-1], r, r), dtype=c.dtype, device=c.device)
    a[..., rows, columns] = c / _ROOT
    a[..., columns, rows] = c / -_ROOT
    return a


def _scales(like: Array, diagonal: Array) -> Array:
    xp = array_namespace(like)
    return xp.asarray(np.where(diagonal, 1.0, _ROOT), dtype=like.dtype, device=like.device)
