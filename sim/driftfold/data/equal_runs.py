"""Row numbers of clients whose rows lie one client after the other."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from driftfold.arrays import Ints


class EqualRuns(Sequence[Ints]):
    """Rows i * each .. (i + 1) * each - 1 of each client i, made when they are asked for.

    Together they are an index as long as the data, which for small samples is as large.

    >>> [rows.tolist() for rows in EqualRuns(clients=2, each=3)]
    [[0, 1, 2], [3, 4, 5]]
    """

    def __init__(self, clients: int, each: int) -> None:
        self.clients = clients
        self.each = each

    def __len__(self) -> int:
        """Return the number of clients."""
        return self.clients

    @overload
    def __getitem__(self, index: int) -> Ints: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Ints]: ...

    def __getitem__(self, index: int | slice) -> Ints | Sequence[Ints]:
        """Return one client's row numbers, or those of several."""
        if isinstance(index, slice):
            return [self._rows(client) for client in range(self.clients)[index]]
        return self._rows(range(self.clients)[index])

    def _rows(self, client: int) -> Ints:
        return np.arange(client * self.each, (client + 1) * self.each)
