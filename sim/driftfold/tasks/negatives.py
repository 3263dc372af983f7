"""Nodes that are not related to a node, drawn at random."""

import numpy as np

from driftfold.arrays import Bools, Ints
from driftfold.data.relation import Relation
from driftfold.rng import Stream


def related(relation: Relation) -> Bools:
    """Whether (u, v) is a pair of the relation, or u = v, shape (n, n).

    >>> from driftfold.data.balanced_tree import BalancedTree
    >>> from driftfold.rng import Seed
    >>> related(BalancedTree(2, 1).load(Seed(0))).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    """
    known = np.eye(len(relation.names), dtype=bool)
    known[relation.pairs[:, 0], relation.pairs[:, 1]] = True
    return known


def sampled_negatives(stream: Stream, known: Bools, pairs: Ints, count: int, visit: int) -> Ints:
    """Draw `count` nodes for each pair (u, v), shape (m, count); -1 where u is related to one.

    >>> from driftfold.rng import Seed
    >>> known = np.eye(3, dtype=bool)
    >>> sampled_negatives(Seed(1).stream("n"), known, np.array([[0, 1]]), 4, visit=0).shape
    (1, 4)
    """
    drawn = stream.integers(np.arange(len(pairs)), visit, count, len(known))
    return np.where(known[pairs[:, :1], drawn], -1, drawn)
