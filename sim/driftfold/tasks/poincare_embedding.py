"""Training an embedding of a taxonomy in hyperbolic space.

Nickel, M., Kiela, D.: "Poincare embeddings for learning hierarchical representations", 2017, and
"Learning continuous hierarchies in the Lorentz model of hyperbolic geometry", 2018.
"""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.relation import (
    SPECTRUM_BYTES,
    Relation,
    RelationSource,
    laplacian_features,
)
from driftfold.data.shuffle import shuffled
from driftfold.data.wordnet_mammals import WordNetMammals
from driftfold.manifolds.lorentz import Lorentz
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.embedding import Embedding, NamedPoints
from driftfold.tasks.negatives import sampled_negatives
from driftfold.tasks.ranking_loss import pull_and_push
from driftfold.tasks.related import Related

_SLOWER = 10  # by which factor the steps are shorter during burn-in
_LONGEST = 1.0  # step of one point, in units of distance
_START = 1e-3  # standard deviation of the first points along each direction


@register("poincare")
@dataclass(frozen=True)
class PoincareEmbedding(Embedding):
    """Embedding trained by Riemannian gradient descent, from the seed alone.

    Minimises the mean over related pairs (u, v) of -log(e^-d(u,v) / sum_v' e^-d(u,v')), v' over v
    and nodes drawn anew each time among those that u is not related to. Features are Laplacian
    coordinates of the relation.

    Attributes
    ----------
    relation
        What is embedded.
    dimension
        Dimension of the hyperbolic space.
    features
        Number of features.
    epochs
        Passes over all pairs.
    burn_in
        Passes at the start with steps ten times shorter, in which directions are found.
    rate
        Step for one pair's gradient, in units of distance.
    batch
        Pairs of one step; gradients of one node are summed.
    negatives
        Nodes drawn for each pair.

    Examples
    --------
    >>> from driftfold.data.balanced_tree import BalancedTree
    >>> tree = PoincareEmbedding(BalancedTree(2, 2), features=2, epochs=20).load(Seed(1))
    >>> tree.points.shape, tree.features.shape
    ((7, 2), (7, 2))
    """

    relation: RelationSource = field(default_factory=WordNetMammals)
    dimension: Annotated[int, Gt(0)] = 2
    features: Annotated[int, Gt(0)] = 3
    epochs: Annotated[int, Gt(0)] = 100
    burn_in: Annotated[int, Ge(0)] = 20
    rate: Annotated[float, Gt(0)] = 0.1
    batch: Annotated[int, Gt(0)] = 512
    negatives: Annotated[int, Gt(0)] = 10

    def footprint(self) -> int:
        """Bytes of an epoch's nodes, of one step's vectors, of two embeddings, and of features."""
        nodes, pairs = self.relation.extent()
        rows, each = self.negatives + 2, min(self.batch, pairs)
        vectors = 32 * each * rows * self.dimension + 16 * nodes * self.dimension
        return 24 * pairs * rows + vectors + SPECTRUM_BYTES * nodes**2

    def load(self, seed: Seed) -> NamedPoints:
        """Train it."""
        relation = self.relation.load(seed)
        features = laplacian_features(relation, self.features)
        return NamedPoints(relation.names, features, self.train(relation, seed))

    def train(self, relation: Relation, seed: Seed) -> Floats:
        """Return the spatial parts of the nodes' points, shape (nodes, dimension)."""
        space, pairs = Lorentz(self.dimension), relation.pairs
        known = Related.of(relation)
        x = seed.stream("embedding start").normal(np.arange(known.nodes), 0, self.dimension)
        x *= _START
        for epoch in range(self.epochs):
            rate = self.rate / (_SLOWER if epoch < self.burn_in else 1)
            order = shuffled(seed.stream("embedding order"), len(pairs), epoch)
            drawn = sampled_negatives(
                seed.stream("embedding negatives"), known, pairs, self.negatives, epoch
            )
            for start in range(0, len(pairs), self.batch):
                rows = order[start : start + self.batch]
                x = _stepped(space, x, pairs[rows], drawn[rows], rate)
        return x


def _stepped(space: Lorentz, x: Floats, pairs: Ints, negatives: Ints, rate: float) -> Floats:
    """Move the nodes of some pairs down the gradient of the sum of the pairs' losses."""
    nodes = np.concatenate([pairs, negatives], axis=1)
    gradients = pull_and_push(space, x[nodes], negatives >= 0)
    touched, places = np.unique(nodes, return_inverse=True)
    total: Array = np.stack(
        [np.bincount(places.reshape(-1), g.reshape(-1)) for g in np.moveaxis(gradients, -1, 0)],
        axis=-1,
    )
    u = -rate * total
    length = np.sqrt((u * u).sum(axis=-1, keepdims=True))
    u /= np.maximum(length / _LONGEST, 1)
    moved = x.copy()
    moved[touched] = space.exp(x[touched], u)
    return moved
