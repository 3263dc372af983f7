"""Samples that clients share: one table of rows, and each client's row numbers in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.data.base import ClientData, Dataset
from driftfold.errors import DataError

_TILE = 1 << 16  # clients whose labels are counted at a time


def share(dataset: Dataset, parts: Sequence[Ints] | np.ndarray[Any, Any]) -> ClientData:
    """Leave the rows where they are, and remember those of each client, all with as many.

    Raises `DataError` when a row does not exist.

    >>> data = Dataset(x=np.array([[1.0], [2.0]]), y=np.array([0, 1]))
    >>> clients = share(data, np.array([[0, 1], [1, 1]]))
    >>> clients.x.shape, clients.samples.tolist(), clients.label_shares.tolist()
    ((2, 1), [2, 2], [[0.5, 0.5], [0.0, 1.0]])
    """
    rows: Ints = np.asarray(parts)
    count, each = rows.shape
    n = len(dataset.x)
    if rows.min() < 0 or rows.max() >= n:
        raise DataError(
            f"the partition names rows {rows.min()} .. {rows.max()} of data with rows 0 .. {n - 1}"
        )
    shares = None
    if dataset.y is not None:
        classes = int(dataset.y.max()) + 1
        shares = np.empty((count, classes))
        for start in range(0, count, _TILE):
            labels = dataset.y[rows[start : start + _TILE]]
            flat = labels + classes * np.arange(len(labels))[:, None]
            counts = np.bincount(flat.reshape(-1), minlength=classes * len(labels))
            shares[start : start + _TILE] = counts.reshape(-1, classes) / each
    return ClientData(
        x=np.ascontiguousarray(dataset.x, dtype=np.float64),
        y=dataset.y,
        samples=np.full(count, each, dtype=np.int64),
        label_shares=shares,
        rows=rows,
    )


def row_weights(data: ClientData, importance: Floats) -> Floats:
    """Weight of each row in sum_i a_i f_i, f_i the mean over client i's rows, shape (n,).

    >>> data = share(Dataset(x=np.zeros((3, 1))), np.array([[0, 1], [1, 1]]))
    >>> row_weights(data, np.array([0.5, 0.5])).tolist()
    [0.25, 0.75, 0.0]
    """
    if data.rows is None:
        raise ValueError("these clients share no rows")
    weights = np.zeros(len(data.x))
    for start in range(0, len(data.rows), _TILE):
        rows = data.rows[start : start + _TILE]
        each = np.repeat(importance[start : start + _TILE] / rows.shape[1], rows.shape[1])
        weights += np.bincount(rows.reshape(-1), each, minlength=len(weights))
    return weights
