"""From samples in rows to one padded block a client."""

from collections.abc import Sequence

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.data.base import ClientData, Dataset
from driftfold.errors import DataError

_PARTS = 1024  # whose row numbers are looked at together


def assemble(dataset: Dataset, parts: Sequence[Ints]) -> ClientData:
    """Gather the rows `parts[i]` of each client i into blocks padded to one length.

    Parameters
    ----------
    dataset
        Samples in rows, n of them.
    parts
        Row numbers of each of N clients, none twice.

    Returns
    -------
    Blocks of shape (N, n_max, d), contiguous, float64.

    Raises
    ------
    DataError
        When no client has a sample, or a row is used twice or does not exist.

    Examples
    --------
    >>> data = Dataset(x=np.array([[1.0], [2.0], [3.0]]), y=np.array([0, 1, 1]))
    >>> clients = assemble(data, [np.array([2, 0]), np.array([1])])
    >>> clients.x[..., 0].tolist(), clients.samples.tolist(), clients.label_shares.tolist()
    ([[3.0, 1.0], [2.0, 0.0]], [2, 1], [[0.5, 0.5], [0.0, 1.0]])
    """
    n, d = dataset.x.shape
    samples = np.array([len(part) for part in parts], dtype=np.int64)
    if not samples.any():
        raise DataError("no client has a single sample; use another partition or more data")
    longest = int(samples.max())
    fresh = True
    if samples.min() == longest and _in_order(parts, n):
        # They lie as they are wanted: large data are not copied.
        x = np.ascontiguousarray(dataset.x, dtype=np.float64).reshape(len(parts), longest, d)
        y = None if dataset.y is None else dataset.y.reshape(len(parts), longest)
        fresh = dataset.fresh or not np.may_share_memory(x, dataset.x)
    else:
        _once(np.concatenate(parts), n)
        x = np.zeros((len(parts), longest, d))
        y = None if dataset.y is None else np.zeros((len(parts), longest), dtype=np.int64)
        for client, part in enumerate(parts):
            x[client, : len(part)] = dataset.x[part]
            if y is not None and dataset.y is not None:
                y[client, : len(part)] = dataset.y[part]
    shares = _label_shares(dataset, parts)
    return ClientData(x=x, y=y, samples=samples, label_shares=shares, fresh=fresh)


def _in_order(parts: Sequence[Ints], n: int) -> bool:
    """Whether the parts, one after the other, are all rows 0 .. n - 1."""
    first = 0
    for start in range(0, len(parts), _PARTS):
        rows = np.concatenate(parts[start : start + _PARTS])
        if not np.array_equal(rows, np.arange(first, first + len(rows))):
            return False
        first += len(rows)
    return first == n


def _once(rows: Ints, n: int) -> None:
    if rows.min() < 0 or rows.max() >= n:
        raise DataError(
            f"the partition names rows {rows.min()} .. {rows.max()} of data with rows 0 .. {n - 1}"
        )
    times = np.bincount(rows, minlength=n)
    if times.max() > 1:
        raise DataError(
            f"the partition uses row {times.argmax()} of the data {times.max()} times; "
            "a sample belongs to one client"
        )


def _label_shares(dataset: Dataset, parts: Sequence[Ints]) -> Floats | None:
    """Share of each class among each client's samples, zeros for a client without any."""
    if dataset.y is None:
        return None
    classes = int(dataset.y.max()) + 1
    counts = np.stack([np.bincount(dataset.y[part], minlength=classes) for part in parts])
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares
