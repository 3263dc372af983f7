"""Symmetric positive definite matrices as rows of a data set."""

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.errors import DataError


def rows_of(matrices: Array, *, root: bool, ridge: float, source: str) -> Floats:
    """Flatten SPD matrices (n, d, d) into rows (n, d * d), after what the experiments do to them.

    Parameters
    ----------
    matrices
        Symmetric matrices.
    root
        Whether to take each one's symmetric square root, after the ridge.
    ridge
        Multiple of the identity to add first.
    source
        Where they come from, for the message.

    Raises
    ------
    DataError
        When one of them is then not positive definite.

    Examples
    --------
    >>> rows_of(np.diag([4.0, 9.0])[None], root=True, ridge=0.0, source="here").round(12)
    array([[2., 0., 0., 3.]])
    """
    d = matrices.shape[-1]
    given = (matrices + matrices.swapaxes(-1, -2)) / 2 + ridge * np.eye(d)
    values, vectors = np.linalg.eigh(given)
    # What is lost in rounding can turn the sign of an eigenvalue this small.
    floor = d * np.finfo(np.float64).eps * np.abs(values).max(axis=-1)
    bad = np.flatnonzero(~(values[..., 0] > floor))
    if bad.size:
        raise DataError(
            f"{bad.size} of {len(given)} matrices of {source} are not positive definite (number "
            f"{bad[0]} has eigenvalue {values[bad[0], 0]:.3g}); set a ridge above "
            f"{max(0.0, -float(values[..., 0].min())):.3g}, such as 1e-6 times their trace / {d}"
        )
    if root:
        half = vectors * values[..., None, :] ** 0.25
        given = half @ half.swapaxes(-1, -2)
        given = (given + given.swapaxes(-1, -2)) / 2
    flat: Floats = given.reshape(len(given), d * d)
    return flat


def matrices_of(rows: Array) -> Array:
    """View rows (..., d * d) as matrices (..., d, d).

    >>> matrices_of(np.arange(4.0)[None]).tolist()
    [[[0.0, 1.0], [2.0, 3.0]]]
    """
    d = round(rows.shape[-1] ** 0.5)
    if d * d != rows.shape[-1]:
        raise DataError(
            f"rows of {rows.shape[-1]} numbers are no square matrices; use data of a kind of "
            "matrices, such as 'synthetic_spd'"
        )
    return rows.reshape(*rows.shape[:-1], d, d)
