"""Candidates at random, so that choosing a few of a million looks at few."""

import math

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.selection.base import Free

MOST = 8
"""No more than 1/MOST of the fleet is looked at after the first candidates: a list is faster."""


def accepted(fleet: Fleet, free: Free, k: int, dispatch: int, share: Floats | None = None) -> Ints:
    """Return up to k free clients in ascending order; fewer where so many were not met.

    Candidates are drawn uniformly from the fleet, with replacement. Those that are free count, each
    once, and of these the first k: whoever counts next is any of the free clients that are left,
    with equal probability, whatever came before. So they are a uniform sample without replacement;
    and so they are with others who are then drawn from those left. With a `share` from 0 to 1 for
    each client, shape (N,), a candidate counts with its share as the probability; whoever counts
    next is then drawn in proportion to shares. How many candidates are drawn follows the part of
    those before that counted, and does not grow with the fleet.

    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), np.ones(1000, int), np.full(1000, 1e-3))
    >>> accepted(fleet, lambda ids: ids % 2 == 0, 3, dispatch=0).tolist()
    [216, 358, 450]
    """
    draws, tosses = fleet.seed.stream("selection.candidates"), fleet.seed.stream("selection.tosses")
    met: dict[int, None] = {}  # in the order of meeting
    looked = hits = attempt = 0
    count = 2 * k + 8
    room = fleet.size
    while len(met) < k and looked + count <= room:
        drawn = draws.integers(attempt, dispatch, count, fleet.size)
        counts = free(drawn)
        if share is not None:
            counts &= tosses.uniform(attempt, dispatch, count) < share[drawn]
        good = drawn[counts].tolist()
        met.update(dict.fromkeys(good))
        attempt, looked, hits = attempt + 1, looked + count, hits + len(good)
        room = fleet.size // MOST
        likely = 1.25 * (k - len(met)) * looked / (hits + 1)
        count = min(8 * count, 8 + math.ceil(max(0.0, likely)))
    return np.array(sorted([*met][:k]), dtype=np.int64)
