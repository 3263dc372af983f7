"""A synthetic taxonomy: a tree in which every inner node has as many children."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le

from driftfold.data.relation import Relation, RelationSource, relation_of
from driftfold.registry import register
from driftfold.rng import Seed


@register("balanced_tree")
@dataclass(frozen=True)
class BalancedTree(RelationSource):
    """Pairs (node, ancestor) of a tree, closed under transitivity.

    Nodes are named by their path from the root: ``r``, ``r.0``, ``r.0.2``, ...

    Attributes
    ----------
    branching
        Children of each inner node.
    depth
        Steps from the root to a leaf.

    Examples
    --------
    >>> tree = BalancedTree(branching=2, depth=2).load(Seed(0))
    >>> tree.names
    ('r', 'r.0', 'r.0.0', 'r.0.1', 'r.1', 'r.1.0', 'r.1.1')
    >>> len(tree.pairs)
    10
    """

    branching: Annotated[int, Ge(2), Le(10**4)] = 3
    depth: Annotated[int, Gt(0), Le(30)] = 3

    def footprint(self) -> int:
        """About the bytes of the pairs, so that absurd sizes are refused before they are made."""
        return 200 * self.extent()[1]

    def extent(self) -> tuple[int, int]:
        """Number of nodes, and of pairs: a node at depth k has k ancestors."""
        levels = [self.branching**k for k in range(self.depth + 1)]
        return sum(levels), sum(k * nodes for k, nodes in enumerate(levels))

    def load(self, seed: Seed) -> Relation:
        """Build the tree; the seed is not used."""
        level, pairs = ["r"], list[tuple[str, str]]()
        for _ in range(self.depth):
            level = [f"{node}.{child}" for node in level for child in range(self.branching)]
            for node in level:
                parts = node.split(".")
                pairs += [(node, ".".join(parts[:k])) for k in range(1, len(parts))]
        return relation_of(pairs)
