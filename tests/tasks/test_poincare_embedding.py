from dataclasses import replace

import numpy as np
import pytest

from driftfold.data import BalancedTree, WordNetMammals
from driftfold.rng import Seed
from driftfold.tasks import PoincareEmbedding, mean_rank_and_precision
from driftfold.tasks.related import Related

TREE = PoincareEmbedding(BalancedTree(2, 3), epochs=60, batch=34)


def test_a_tree_is_embedded_with_the_root_inside() -> None:
    named = TREE.load(Seed(1))
    known = Related.of(TREE.relation.load(Seed(1)))
    rank, precision = mean_rank_and_precision(named.points, known)
    # By chance a related node has rank 7 among the others on average.
    assert rank < 1.6
    assert precision > 0.85
    lengths = np.linalg.norm(named.points, axis=1)
    assert lengths.argmin() == named.number("r")
    depth = np.array([name.count(".") for name in named.names])
    means = [lengths[depth == k].mean() for k in range(4)]
    assert means == sorted(means)


def test_the_seed_says_it_all() -> None:
    short = replace(TREE, epochs=3)
    one, again, other = (short.load(Seed(s)).points for s in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert np.abs(one - other).max() > 1e-6


def test_burn_in_takes_shorter_steps() -> None:
    slow = replace(TREE, epochs=2, burn_in=2).load(Seed(1)).points
    fast = replace(TREE, epochs=2, burn_in=0).load(Seed(1)).points
    assert np.linalg.norm(slow) < 0.5 * np.linalg.norm(fast)


@pytest.mark.slow
def test_mammals_are_embedded_better_than_in_the_published_experiment() -> None:
    """Its points have a mean rank of 29.8 and a mean average precision of 0.206."""
    known = Related.of(WordNetMammals().load(Seed(0)))
    rank, precision = mean_rank_and_precision(PoincareEmbedding().load(Seed(1)).points, known)
    assert rank < 15
    assert precision > 0.3
