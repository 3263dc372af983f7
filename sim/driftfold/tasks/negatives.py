"""Nodes that are not related to a node, drawn at random."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.rng import Stream
from driftfold.tasks.related import Related


def sampled_negatives(stream: Stream, known: Related, pairs: Ints, count: int, visit: int) -> Ints:
    """Draw `count` nodes for each pair (u, v), shape (m, count); -1 where u is related to one.

    >>> from driftfold.rng import Seed
    >>> known = Related.of_matrix(np.eye(3, dtype=bool))
    >>> sampled_negatives(Seed(1).stream("n"), known, np.array([[0, 1]]), 4, visit=0).shape
    (1, 4)
    """
    drawn = stream.integers(np.arange(len(pairs)), visit, count, known.nodes)
    return np.where(known.has(pairs[:, :1], drawn), -1, drawn)
