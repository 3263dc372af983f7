"""Which nodes of a relation are related."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Bools, Ints
from driftfold.data.relation import Relation


@dataclass(frozen=True)
class Related:
    """The pairs (u, v) of n nodes that are related, among them all (u, u).

    Kept as numbers u n + v: a matrix would have n^2 entries, and nearly all of them false.

    Attributes
    ----------
    nodes
        Their number n.
    keys
        u n + v of each pair, ascending.

    Examples
    --------
    >>> from driftfold.data.balanced_tree import BalancedTree
    >>> from driftfold.rng import Seed
    >>> known = Related.of(BalancedTree(2, 1).load(Seed(0)))
    >>> known.row(1).tolist(), known.has(np.array([0, 1]), np.array([1, 0])).tolist()
    ([True, True, False], [False, True])
    """

    nodes: int
    keys: Ints

    @staticmethod
    def of(relation: Relation) -> "Related":
        """Whether (u, v) is a pair of the relation, or u = v."""
        n = len(relation.names)
        themselves = np.arange(n, dtype=np.int64) * (n + 1)
        pairs = relation.pairs[:, 0] * n + relation.pairs[:, 1]
        return Related(n, np.unique(np.concatenate([themselves, pairs])))

    @staticmethod
    def of_matrix(matrix: Bools) -> "Related":
        """Take (u, v) from a matrix of shape (n, n); (u, u) need not be true in it.

        >>> Related.of_matrix(np.array([[False, True], [False, False]])).keys.tolist()
        [0, 1, 3]
        """
        n = len(matrix)
        return Related(n, np.flatnonzero(matrix | np.eye(n, dtype=bool)))

    def has(self, u: Ints, v: Ints) -> npt.NDArray[np.bool_]:
        """Whether u and v are related, for arrays that broadcast."""
        wanted = u * self.nodes + v
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: npt.NDArray[np.bool_] = self.keys[place] == wanted
        return found

    def row(self, u: int) -> Bools:
        """Whether u is related to each node, shape (n,)."""
        made = np.zeros(self.nodes, dtype=bool)
        made[self.neighbours(u)] = True
        return made

    def neighbours(self, u: int) -> Ints:
        """Nodes that u is related to, itself among them, ascending."""
        first, last = np.searchsorted(self.keys, [u * self.nodes, (u + 1) * self.nodes])
        own: Ints = self.keys[first:last] - u * self.nodes
        return own
