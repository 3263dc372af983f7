"""Columns with few known entries, fitted to a subspace: all columns at once.

A column j with known entries x_i, i in Omega_j, is fitted to the span of r orthonormal rows U
(r, m) by the weights w_j that minimise

    f_j = (1/2) |U_Omega^T w - x_Omega|^2 + (lambda/2) |(U^T w) outside Omega|^2,

that is w_j = ((1 - lambda) U_Omega U_Omega^T + lambda I)^-1 U_Omega x_Omega. Sets Omega_j of any
sizes lie one after the other along the last axis: sums over a column are sums over a segment, and
nothing is padded.
"""

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.manifolds.small_matrices import inverse_cholesky
from driftfold.tasks.known_entries import Entries


class ColumnFits:
    """The columns of `entries`, fitted to the subspaces `x`.

    Parameters
    ----------
    entries
        What is known.
    x
        Orthonormal rows of each matrix's subspace, shape (matrices, r, items).
    ridge
        lambda, from 0 to below 1.

    Examples
    --------
    Two entries of the column (3, ?, 4) in the span of (1, 1, 1) / sqrt(3):

    >>> one, known = np.array([0]), np.array([0, 2])
    >>> entries = Entries(np.array([2]), one, known, np.array([3.0, 4.0]), matrices=1, items=3)
    >>> fits = ColumnFits(entries, np.ones((1, 1, 3)) / np.sqrt(3), ridge=0.0)
    >>> (fits.weights / np.sqrt(3)).round(12).tolist(), fits.losses().round(12).tolist()
    ([[3.5]], [0.25])
    """

    def __init__(self, entries: Entries, x: Array, ridge: float) -> None:
        self._entries, self._x, self._ridge = entries, x, ridge
        self._place = entries.place()
        rank = x.shape[1]
        flat = np.ascontiguousarray(x.swapaxes(0, 1)).reshape(rank, -1)
        self._basis = np.take(flat, self._place, axis=1)  # U_Omega, shape (r, n)
        filled = entries.counts > 0
        self._filled: Bools | slice = slice(None) if filled.all() else filled
        self._starts = (np.cumsum(entries.counts) - entries.counts)[self._filled]
        self.weights = self._fit()
        """w, shape (r, k)."""
        self._spread = np.repeat(self.weights, entries.counts, axis=1)
        self.fitted = (self._basis * self._spread).sum(axis=0)
        """U_Omega^T w at each entry, shape (n,)."""

    def losses(self) -> Array:
        """f_j of each column, shape (k,)."""
        error = self.fitted - self._entries.value
        total = self._sums((error * error)[None])[0]
        if self._ridge:
            outside = (self.weights * self.weights).sum(axis=0)
            outside -= self._sums((self.fitted * self.fitted)[None])[0]
            total += self._ridge * outside
        return total / 2

    def gradient(self, shares: Array) -> Array:
        """Gradient of the sum of `shares`_j f_j in x, shape (matrices, r, items): horizontal.

        w_j is optimal, so only U itself counts: the sum of shares_j w_j r_j^T, with r_j the
        residual U^T w - x inside Omega and lambda U^T w outside.
        """
        entries, ridge = self._entries, self._ridge
        error = self.fitted if not ridge else (1 - ridge) * self.fitted
        error = (error - entries.value) * np.repeat(shares, entries.counts)
        terms = self._spread * error
        size = entries.matrices * entries.items
        rows = [np.bincount(self._place, weights=term, minlength=size) for term in terms]
        shape = (len(rows), entries.matrices, entries.items)
        total: Array = np.stack(rows).reshape(shape).swapaxes(0, 1)
        if ridge:
            total = total + ridge * np.matmul(self._second_moments(shares), self._x)
        return total

    @np.errstate(invalid="ignore")  # what cannot be solved is fitted anew below
    def _fit(self) -> Array:
        basis, value, ridge = self._basis, self._entries.value, self._ridge
        rank = len(basis)
        upper = np.triu_indices(rank)
        products = np.empty((len(upper[0]) + rank, len(value)), dtype=basis.dtype)
        for row, i, j in zip(products, *upper, strict=False):
            np.multiply(basis[i], basis[j], out=row)
        np.multiply(basis, value, out=products[len(upper[0]) :])
        sums = self._sums(products)
        gram = np.empty((sums.shape[1], rank, rank), dtype=sums.dtype)
        gram[:, upper[0], upper[1]] = gram[:, upper[1], upper[0]] = sums[: len(upper[0])].T
        if ridge:
            gram *= 1 - ridge
            gram += ridge * np.eye(rank, dtype=gram.dtype)
        right = sums[len(upper[0]) :].T
        root = inverse_cholesky(gram)
        weights = np.matmul(root.mT, np.matmul(root, right[..., None]))[..., 0]
        if not ridge:
            # Fewer entries than dimensions: many weights fit exactly; take the shortest.
            hard = (self._entries.counts < rank) | ~np.isfinite(weights).all(axis=1)
            for column in np.flatnonzero(hard & np.isfinite(gram).all(axis=(1, 2))):
                weights[column] = np.linalg.pinv(gram[column], hermitian=True) @ right[column]
        return np.ascontiguousarray(weights.T)

    def _sums(self, terms: Array) -> Array:
        """Sums over each column's entries of `terms` (..., n), shape (..., k)."""
        made = np.zeros((len(terms), len(self._entries.counts)), dtype=terms.dtype)
        if len(self._starts):
            made[:, self._filled] = np.add.reduceat(terms, self._starts, axis=1)
        return made

    def _second_moments(self, shares: Array) -> Array:
        """Sum over each matrix's columns of shares_j w_j w_j^T, shape (matrices, r, r)."""
        weights, count = self.weights, self._entries.matrices
        made = [
            np.bincount(self._entries.matrix, weights=shares * a * b, minlength=count)
            for a in weights
            for b in weights
        ]
        rank = len(weights)
        moments: Array = np.stack(made).reshape(rank, rank, count).transpose(2, 0, 1)
        return moments
