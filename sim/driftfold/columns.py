"""Columns: one entry for each client, in versions that share their memory.

What a rule remembers is a value: a step makes a new one and leaves the old one as it was. A step
changes the entries of a few clients, of a million perhaps; copying those of all others would cost
more than all else it does. So the versions of a column share one array. The newest holds it, and
each older one knows what it has other than the next. To read or to replace k entries of the newest
one costs k steps. An older one that is read takes the array back.

Baker, H. G.: "Shallow binding makes functional arrays fast", ACM SIGPLAN Notices 26 (8), 1991.
"""

from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from driftfold.arrays import Ints

T = TypeVar("T", bound=np.generic)
Entries: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[T]]


class Column(Generic[T]):
    """A version of a column. Whatever is read of it is a copy, so that nothing changes it.

    It is a leaf of trees, and comes back from a snapshot as an array; `replaced` takes both.

    >>> old = Column(np.zeros(3))
    >>> new = replaced(old, np.array([2]), np.array([5.0]))
    >>> np.asarray(old), np.asarray(new), new[np.array([2, 0])]
    (array([0., 0., 0.]), array([0., 0., 5.]), array([5., 0.]))
    """

    __slots__ = ("_entries", "_newer", "dtype", "shape")

    def __init__(self, entries: Entries[T]) -> None:
        self.shape, self.dtype = entries.shape, entries.dtype
        self._entries = entries
        # Of an older version: the next one, and the clients whose entries are others there.
        self._newer: tuple[Column[T], Ints] | None = None

    def __getitem__(self, clients: Ints) -> Entries[T]:
        """Entries of `clients`, shape (k, ...)."""
        taken: Entries[T] = self._held().take(clients, axis=0)
        return taken

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Entries[Any]:
        """All entries."""
        return np.array(self._held(), dtype=dtype)

    def copy(self) -> Entries[T]:
        """All entries."""
        return self._held().copy()

    def replaced(self, clients: Ints, entries: Entries[T] | int) -> "Column[T]":
        """Return the version with other entries of `clients`, distinct ids of shape (k,)."""
        newer = Column(self._held())
        self._give(newer, clients, entries)
        return newer

    def _give(self, other: "Column[T]", clients: Ints, entries: Entries[T] | int) -> None:
        """Hand the shared array to another version, in which `clients` have these entries."""
        held = self._entries
        self._entries, self._newer = held[clients], (other, clients)
        held[clients] = entries
        other._entries, other._newer = held, None

    def _held(self) -> Entries[T]:
        """The shared array, with the entries of this version."""
        way, version = list[tuple[Column[T], Ints]](), self
        while version._newer is not None:
            newer, clients = version._newer
            way.append((version, clients))
            version = newer
        for older, clients in reversed(way):
            version._give(older, clients, older._entries)
            version = older
        return self._entries


def replaced(column: Column[T] | Entries[T], clients: Ints, entries: Entries[T] | int) -> Column[T]:
    """Return a column with other entries of `clients`, distinct ids of shape (k,).

    An array is copied the first time; see `Column`.
    """
    held = column if isinstance(column, Column) else Column(column.copy())
    return held.replaced(clients, entries)
