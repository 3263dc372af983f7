"""Tables of comma-separated values with one line of names."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np

from driftfold.arrays import Floats, Ints
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


def words(content: bytes, count: int, where: object) -> list[tuple[list[str], Ints]]:
    r"""Return the last `count` columns, without the line of names, as numbered words.

    For each column: its different words in alphabetical order, and the number of each row's.

    >>> words(b"a,b,c\n1,x,v\n3,w,v\n", 2, "here")
    [(['w', 'x'], array([1, 0])), (['v'], array([0, 0]))]
    """
    rows = [line.rsplit(b",", count)[1:] for line in content.splitlines()[1:] if line]
    if not rows or {len(row) for row in rows} != {count}:
        raise DataError(
            f"{where} has no rows, or rows of {count} columns or fewer; obtain it again"
        )
    numbered = []
    for column in zip(*rows, strict=True):
        known = sorted(set(column))
        number = {word: place for place, word in enumerate(known)}
        names = [word.decode("ascii", "replace") for word in known]
        numbered.append((names, np.array([number[word] for word in column], np.int64)))
    return numbered
