"""Ratings that users gave to items: a matrix of which few entries are known."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.data.magnitude import check_magnitude
from driftfold.errors import DataError
from driftfold.registry import family
from driftfold.rng import Seed


@dataclass(frozen=True)
class Ratings:
    """Known entries of an (items, users) matrix, in order of user and then of item.

    Attributes
    ----------
    user
        Column of each entry, 0 .. users-1, shape (n,), ascending.
    item
        Row of each entry, 0 .. items-1, shape (n,), ascending within a user.
    value
        The entry itself, shape (n,): (rating - mean) / scale.
    test
        Whether the entry is held out for testing, shape (n,).
    users
        Number of columns; a user may have no entry.
    items
        Number of rows; an item may have no entry.
    mean
        Subtracted from the ratings, in their own unit (stars).
    scale
        Divided out of the ratings, in their own unit: an error times `scale` is one in stars.
    truth
        Factors A (items, r) and B (users, r) of the whole matrix A B^T, where it is known.

    Examples
    --------
    >>> ratings = ratings_of(user=[1, 0, 1], item=[2, 0, 1], value=[5, 3, 4], users=2, items=3)
    >>> ratings.user.tolist(), ratings.item.tolist(), ratings.value.tolist()
    ([0, 1, 1], [0, 1, 2], [3.0, 4.0, 5.0])
    >>> ratings.starts.tolist()
    [0, 1, 3]
    """

    user: Ints
    item: Ints
    value: Floats
    test: Bools
    users: int
    items: int
    mean: float = 0.0
    scale: float = 1.0
    truth: tuple[Floats, Floats] | None = None

    @property
    def starts(self) -> Ints:
        """Entries of user j are number starts[j] .. starts[j+1]-1; shape (users + 1,)."""
        counts = np.bincount(self.user, minlength=self.users)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def part(self, test: bool) -> "Ratings":
        """Only the entries held out for testing, or only the others."""
        chosen = self.test == test
        return replace(
            self,
            user=self.user[chosen],
            item=self.item[chosen],
            value=self.value[chosen],
            test=self.test[chosen],
        )


@family("ratings")
class RatingSource(ABC):
    """Where ratings come from."""

    @abstractmethod
    def load(self, seed: Seed) -> Ratings:
        """Read or generate the ratings; raises `DataError` with what to do when it cannot."""


def ratings_of(
    user: object,
    item: object,
    value: object,
    users: int,
    items: int,
    truth: tuple[Floats, Floats] | None = None,
) -> Ratings:
    """Bring entries in any order into `Ratings`, none held out.

    Raises
    ------
    DataError
        There is no entry, one is given twice, lies outside the matrix or is not finite or huge, or
        the three sequences differ in length.
    """
    column = np.asarray(user, dtype=np.int64)
    row = np.asarray(item, dtype=np.int64)
    entry = np.asarray(value, dtype=np.float64)
    if not (column.shape == row.shape == entry.shape and column.ndim == 1 and column.size):
        raise DataError(
            f"got {column.size} users, {row.size} items and {entry.size} values; wanted as many of "
            "each, and at least one"
        )
    if min(column.min(), row.min()) < 0 or column.max() >= users or row.max() >= items:
        raise DataError(
            f"ratings name users {column.min()} .. {column.max()} and items {row.min()} .. "
            f"{row.max()}; wanted 0 .. {users - 1} and 0 .. {items - 1}"
        )
    check_magnitude(entry, "the ratings")
    place = column * items + row
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if twice.size:
        first = order[twice[0]]
        raise DataError(
            f"user {column[first]} rates item {row[first]} more than once; keep one of the ratings"
        )
    return Ratings(
        user=column[order],
        item=row[order],
        value=entry[order],
        test=np.zeros(len(order), dtype=bool),
        users=users,
        items=items,
        truth=truth,
    )


def standardised(ratings: Ratings) -> Ratings:
    """Z-scores over all entries, so that the unit of an error is one standard deviation.

    >>> z = standardised(ratings_of([0, 0, 1], [0, 1, 0], [2, 4, 3], users=2, items=2))
    >>> z.mean, round(z.scale, 4), z.value.round(4).tolist()
    (3.0, 0.8165, [-1.2247, 1.2247, 0.0])
    """
    mean, scale = float(ratings.value.mean()), float(ratings.value.std()) or 1.0
    return replace(
        ratings,
        value=(ratings.value - mean) / scale,
        mean=ratings.mean + ratings.scale * mean,
        scale=ratings.scale * scale,
    )


def hold_out(ratings: Ratings, share: float, seed: Seed) -> Ratings:
    """Hold out a random `share` of each user's entries for testing.

    Of n entries, ceil((1 - share) n) are kept for training, so every user with an entry has one
    there. Each entry's lot is addressed by its user and item: others do not change it.

    >>> ten = ratings_of([0] * 10, range(10), [1.0] * 10, users=1, items=10)
    >>> int(hold_out(ten, 0.2, Seed(1)).test.sum())
    2
    """
    lot = seed.stream("held-out ratings").uniform(ratings.user, ratings.item, 1)[:, 0]
    order = np.lexsort((lot, ratings.user))
    starts = ratings.starts
    counts = np.diff(starts)
    # 0.8 * 35 is above 28 in floating point: the slack keeps ceil from adding one.
    kept = np.ceil((1 - share) * counts - 1e-9).astype(np.int64)
    place = np.arange(len(order)) - starts[ratings.user]
    test = np.zeros(len(order), dtype=bool)
    test[order] = place >= kept[ratings.user]
    return replace(ratings, test=test)
