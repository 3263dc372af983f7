"""The known entries of a matrix, taken out by column."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.ratings import Ratings

_TILE = 2**15  # entries whose columns are worked on at a time, when all are


@dataclass(frozen=True)
class Entries:
    """Known entries of k columns of several matrices, column by column.

    Attributes
    ----------
    counts
        Number of entries of each column, shape (k,).
    matrix
        Which matrix, 0 .. matrices-1, each column belongs to, shape (k,), ascending.
    item
        Row of each entry in its matrix, 0 .. items-1, shape (n,).
    value
        The entries, shape (n,).
    matrices, items
        Number of matrices, and of rows of each.
    """

    counts: Ints
    matrix: Ints
    item: Ints
    value: Array
    matrices: int
    items: int

    def place(self) -> Ints:
        """Row of each entry in the matrices laid end to end, shape (n,)."""
        if self.matrices == 1:
            return self.item
        places: Ints = self.item + np.repeat(self.matrix * self.items, self.counts)
        return places


class Columns:
    """The known entries of all users' columns, to be taken out by user.

    Parameters
    ----------
    ratings
        The entries, in order of user.
    dtype
        Type of the values.
    """

    def __init__(self, ratings: Ratings, dtype: str) -> None:
        self._starts = ratings.starts
        self._item = ratings.item
        self._value = ratings.value.astype(dtype)
        self._items = ratings.items
        self.counts: Ints = np.diff(self._starts)
        """Entries of each user."""

    def of(self, users: Ints, matrix: Ints, matrices: int) -> Entries:
        """Entries of some users' columns, each in the matrix that is named."""
        counts = self.counts[users]
        ends = np.cumsum(counts)
        rows = np.arange(int(ends[-1]) if len(ends) else 0)
        rows += np.repeat(self._starts[users] - (ends - counts), counts)
        return Entries(counts, matrix, self._item[rows], self._value[rows], matrices, self._items)

    def tiles(self, users: Ints) -> list[slice]:
        """Cut `users` so that no piece has many more than a tile's entries."""
        piece = np.cumsum(self.counts[users]) // _TILE
        cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(users)]
        return [slice(a, b) for a, b in pairwise(cuts)]
