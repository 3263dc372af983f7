"""Tables of comma-separated values with one line of names."""

import csv
from collections.abc import Sequence
from io import BytesIO, StringIO

import numpy as np

from driftfold.arrays import Floats
from driftfold.errors import DataError


def numbers(content: bytes, columns: Sequence[int], where: object) -> Floats:
    r"""Return some columns as numbers, shape (rows, columns), without the line of names.

    >>> numbers(b"a,b,c\n1,x,2\n3,y,4\n", [0, 2], "here")
    array([[1., 2.],
           [3., 4.]])
    """
    try:
        table = np.loadtxt(
            BytesIO(content), delimiter=",", skiprows=1, usecols=columns, ndmin=2, encoding="ascii"
        )
    except ValueError as error:
        raise DataError(f"{where} is no table as wanted ({error}); obtain it again") from None
    if not table.size or not np.isfinite(table).all():
        raise DataError(f"{where} has no rows, or numbers that are not finite; obtain it again")
    return table


def texts(content: bytes, columns: Sequence[int], where: object) -> list[tuple[str, ...]]:
    r"""Return some columns as texts, without the line of names.

    >>> texts(b"a,b,c\n1,x,2\n3,y,4\n", [1, 0], "here")
    [('x', '1'), ('y', '3')]
    """
    rows = list(csv.reader(StringIO(content.decode("ascii", "replace"))))[1:]
    try:
        return [tuple(row[column] for column in columns) for row in rows if row]
    except IndexError:
        raise DataError(f"{where} has rows of fewer columns than wanted; obtain it again") from None
