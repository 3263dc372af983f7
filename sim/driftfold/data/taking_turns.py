"""An order of samples in which classes take turns, so that a limit leaves them balanced."""

import numpy as np

from driftfold.arrays import Array, Ints


def taking_turns(labels: Array, chosen: Array) -> Ints:
    """Rows of `chosen` samples so that classes take turns, each class in its own order.

    >>> taking_turns(np.array([0, 0, 1, 1, 1]), np.array([True, True, True, False, True])).tolist()
    [0, 2, 1, 4]
    """
    rows = np.flatnonzero(chosen)
    own = labels[rows].astype(np.int64)
    turn = np.zeros(len(rows), dtype=np.int64)
    for label in np.unique(own):
        members = own == label
        turn[members] = np.arange(int(members.sum()))
    return rows[np.lexsort((own, turn))]
