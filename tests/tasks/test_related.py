import numpy as np

from driftfold.data import BalancedTree, WordNetMammals
from driftfold.rng import Seed
from driftfold.tasks.related import Related


def test_it_says_what_the_matrix_says() -> None:
    relation = WordNetMammals().load(Seed(0))
    n = len(relation.names)
    matrix = np.eye(n, dtype=bool)
    matrix[relation.pairs[:, 0], relation.pairs[:, 1]] = True
    known = Related.of(relation)
    assert known.nodes == n
    assert np.array_equal(known.keys, Related.of_matrix(matrix).keys)
    some = np.arange(0, n, 7)
    assert np.array_equal(known.has(some[:, None], np.arange(n)), matrix[some])
    for u in (0, 5, n - 1):
        assert np.array_equal(known.row(u), matrix[u])
        assert np.array_equal(known.neighbours(u), np.flatnonzero(matrix[u]))


def test_a_large_relation_takes_memory_for_its_pairs_only() -> None:
    relation = BalancedTree(branching=10, depth=4).load(Seed(0))
    known = Related.of(relation)
    assert len(known.keys) == len(relation.pairs) + known.nodes
