"""Uniform selection: every subset alike, by dispatch, whatever was asked before."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from driftfold.rng import Seed
from driftfold.world.selection import UniformSelection

CHOOSE = UniformSelection().choose


def test_every_subset_is_equally_likely() -> None:
    pool = np.array([2, 3, 5, 7, 11])
    stream = Seed(8).stream("selection")
    seen = Counter(tuple(CHOOSE(pool, 2, d, stream).tolist()) for d in range(4000))
    assert set(seen) == set(combinations(pool.tolist(), 2))
    # A fair choice fails once in a thousand seeds; the seed is fixed.
    assert chisquare(list(seen.values())).pvalue > 1e-3


@pytest.mark.parametrize("k", [5, 6, 10**9])
def test_a_small_pool_is_taken_whole(k: int) -> None:
    pool = np.arange(5) * 3
    assert CHOOSE(pool, k, 0, Seed(1).stream("selection")).tolist() == pool.tolist()
    empty = pool[:0]
    assert CHOOSE(empty, k, 0, Seed(1).stream("selection")).tolist() == []


def test_choices_are_addressed_by_dispatch() -> None:
    pool = np.arange(100)
    one, two = Seed(3).stream("selection"), Seed(3).stream("selection")
    forwards = [CHOOSE(pool, 10, d, one).tolist() for d in range(20)]
    backwards = [CHOOSE(pool, 10, d, two).tolist() for d in reversed(range(20))]
    assert forwards == backwards[::-1]
    assert len({tuple(c) for c in forwards}) == 20
    assert all(c == sorted(set(c)) for c in forwards)
