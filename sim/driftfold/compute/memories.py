"""The private states of clients, kept sparsely in stacked stores."""

from typing import Any

import numpy as np

from driftfold.arrays import Ints
from driftfold.trees import map_leaves, rows, spread


class Memories:
    """One memory tree for each client that ever learnt something, as rows of growing arrays.

    >>> store = Memories(np.zeros(2))
    >>> store.write(np.array([7, 3]), np.array([[1.0, 1.0], [2.0, 2.0]]))
    >>> store.read(np.array([3, 5]))
    array([[2., 2.],
           [0., 0.]])
    """

    def __init__(self, fresh: Any) -> None:
        self._fresh = fresh
        self._row: dict[int, int] = {}
        self._table = spread(fresh, 1)  # row 0 is what a new client has

    def read(self, clients: Ints) -> Any:
        """Memories of `clients` with a leading axis; a client not yet visited has a fresh one."""
        return rows(self._table, np.array([self._row.get(c, 0) for c in clients.tolist()], np.intp))

    def write(self, clients: Ints, memory: Any) -> None:
        """Store the memories of distinct `clients`."""
        for c in clients.tolist():
            self._row.setdefault(c, len(self._row) + 1)
        self._grow(len(self._row) + 1)
        index = np.array([self._row[c] for c in clients.tolist()], np.intp)

        def put(table: Any, new: Any) -> Any:
            table[index] = new
            return table

        map_leaves(put, self._table, memory)

    def visited(self) -> tuple[Ints, Any]:
        """Ids of the clients that have a memory, in order of the first, and their memories."""
        count = len(self._row)
        return np.array(list(self._row), dtype=np.int64), rows(self._table, slice(1, count + 1))

    def restore(self, clients: Ints, memory: Any) -> None:
        """Forget everything and take over what `visited` gave."""
        self._row = {}
        self._table = spread(self._fresh, 1)
        if len(clients):
            self.write(clients, memory)

    def _grow(self, needed: int) -> None:
        def grow(table: Any, fresh: Any) -> Any:
            room = len(table)
            if room >= needed:
                return table
            larger = np.empty((max(needed, 2 * room), *fresh.shape), table.dtype)
            larger[:room], larger[room:] = table, fresh
            return larger

        self._table = map_leaves(grow, self._table, self._fresh)
