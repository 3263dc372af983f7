"""The blocks of some clients out of an array with one block for each client."""

from types import EllipsisType
from typing import TypeAlias

import numpy as np

from driftfold.arrays import Array, Ints

COPY_UP_TO = 2**17
"""Bytes of a block up to which copying it once costs less than a product call of its own in each
local step (measured: about 1.5 us a call, and 30 GB/s for a copy)."""

Parts: TypeAlias = list[tuple[slice | EllipsisType, Array]]
"""Pieces of a stack: where a piece goes in the stack, and its blocks."""


def blocks_of(array: Array, clients: Ints, copy_up_to: int = COPY_UP_TO) -> Parts:
    """Blocks `array[clients]` as pieces, views of `array` wherever that is cheaper than a copy.

    Consecutive ids are one view; other ids are one copy of small blocks, or one view for each run
    of consecutive ids. A `clients` of shape () gives one block without a leading axis.

    >>> [(rows, part.tolist()) for rows, part in blocks_of(np.arange(5), np.array([1, 2]))]
    [(slice(0, 2, None), [1, 2])]
    >>> [part.tolist() for _, part in blocks_of(np.arange(5), np.array([1, 2, 4]), copy_up_to=0)]
    [[1, 2], [4]]
    """
    if clients.ndim == 0:
        return [(..., array[int(clients)])]
    count = len(clients)
    if count == 0:
        return []
    starts = np.flatnonzero(np.diff(clients, prepend=clients[0] - 2) != 1)
    if len(starts) > 1 and array[0].nbytes <= copy_up_to:
        return [(slice(0, count), array[clients])]
    return [
        (slice(int(a), int(b)), array[int(clients[a]) : int(clients[b - 1]) + 1])
        for a, b in zip(starts, [*starts[1:], count], strict=True)
    ]
