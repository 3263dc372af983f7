"""Candidates at random, so that choosing a few of a million looks at few."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.fleet import Fleet
from driftfold.rng import Stream
from driftfold.selection.base import Free

TRIES = 3
"""Rounds of candidates, each with eight times as many as the one before."""


def accepted(fleet: Fleet, free: Free, k: int, dispatch: int, stream: Stream) -> Ints | None:
    """Return k free clients in ascending order, or None when so many were not met.

    Candidates are drawn uniformly from the fleet, with replacement; those that are free count, each
    once, and of these the first k. So every subset of k free clients is equally likely: none of
    them is told from the others by the draws. That holds, for the same reason, of what is chosen
    in another way when None was returned.

    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), np.ones(1000, int), np.full(1000, 1e-3))
    >>> accepted(fleet, lambda ids: ids % 2 == 0, 3, 0, fleet.seed.stream("doc")).tolist()
    [188, 692, 720]
    """
    met = np.empty(0, np.int64)
    count = 2 * k + 8
    for attempt in range(TRIES):
        drawn = stream.integers(np.array([attempt + 1]), dispatch, count, fleet.size)[0]
        both = np.concatenate([met, drawn[free(drawn)]])
        _, first = np.unique(both, return_index=True)
        met = both[np.sort(first)]
        if len(met) >= k:
            return np.sort(met[:k])
        if count >= fleet.size:
            return None
        count *= 8
    return None
