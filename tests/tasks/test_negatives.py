import numpy as np

from driftfold.data import BalancedTree
from driftfold.rng import Seed
from driftfold.tasks.negatives import sampled_negatives
from driftfold.tasks.related import Related


def test_negatives_are_unrelated_and_all_of_them_come() -> None:
    relation = BalancedTree(2, 3).load(Seed(0))
    known = Related.of(relation)
    drawn = sampled_negatives(Seed(2).stream("n"), known, relation.pairs, 400, visit=0)
    for (u, _), others in zip(relation.pairs, drawn, strict=True):
        kept = others[others >= 0]
        assert not known.has(u, kept).any()
        # Each of 15 nodes is missed by 400 draws with probability (14/15)^400 = 1e-12.
        assert set(kept) == set(np.flatnonzero(~known.row(u)))
        left_out = (others < 0).mean()
        assert abs(left_out - known.row(u).mean()) < 5 * 0.5 / np.sqrt(400)


def test_a_pair_keeps_its_negatives_when_more_are_asked_for() -> None:
    relation = BalancedTree(2, 2).load(Seed(0))
    known, stream = Related.of(relation), Seed(3).stream("n")
    few = sampled_negatives(stream, known, relation.pairs[:4], 3, visit=1)
    many = sampled_negatives(stream, known, relation.pairs, 8, visit=1)
    assert np.array_equal(few, many[:4, :3])
    other = sampled_negatives(stream, known, relation.pairs, 8, visit=2)
    assert not np.array_equal(many, other)
