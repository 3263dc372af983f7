"""Structured prediction in hyperbolic space: the place of a name from those of others.

Marconi, G. M., Rosasco, L., Ciliberto, C.: "Hyperbolic manifold regression", 2020; federated in
Huang, Huang, Jawanpuria, Mishra: "Riemannian Federated Learning via Averaging Gradient Streams",
2026 (arXiv 2409.07223).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Floats
from driftfold.data.base import ClientData, Dataset, Partition
from driftfold.data.in_order import InOrder
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.lorentz import Lorentz
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Task
from driftfold.tasks.division import Weighting, divide_dataset
from driftfold.tasks.embedding import Embedding
from driftfold.tasks.hyperbolic_targets import HyperbolicFrechetProblem, lorentz
from driftfold.tasks.kernel_ridge import ridge_weights
from driftfold.tasks.poincare_embedding import PoincareEmbedding


class HyperbolicPredictionProblem(HyperbolicFrechetProblem):
    """f_i(x) = (1/n_i) sum_j c_ij dist(x, y_ij)^2, c_ij what sample j says about the query.

    Attributes
    ----------
    truth
        Where the query really is, spatial part of shape (dim,).

    Examples
    --------
    >>> from driftfold.data.balanced_tree import BalancedTree
    >>> tree = PoincareEmbedding(BalancedTree(2, 3), epochs=30)
    >>> task = HyperbolicPrediction(tree, query="r.0.1", clients=2, bandwidth=0.5)
    >>> problem = task.build(Seed(1))
    >>> sorted(problem.evaluate(problem.solution, time=0.0))
    ['distance', 'distance_to_truth', 'gap', 'loss']
    """

    def __init__(
        self,
        fleet: Fleet,
        manifold: Lorentz,
        targets: Array,
        coefficients: Array,
        truth: Floats,
        start: Floats | None,
    ) -> None:
        super().__init__(fleet, manifold, targets, coefficients, scale=1.0)
        self.truth = truth
        self._start = start

    def initial_point(self) -> Array:
        """Return the given start, or a random point."""
        if self._start is None:
            return super().initial_point()
        return self._start.astype(self.targets.dtype)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective, gap, distances to the minimiser and to the truth.

        The minimiser is not the truth: the second distance ends near that of the two, and a
        method that converges may pass nearer on its way.
        """
        x = x.astype(np.float64, copy=False)
        apart = float(self.manifold.dist(x, self.truth))
        return {**super().evaluate(x, time), "distance_to_truth": apart}


@register("hyperbolic_prediction")
@dataclass(frozen=True)
class HyperbolicPrediction(Task):
    """Predict where one name of an embedding lies from its features and the other names.

    min over x of sum_i a_i (1/n_i) sum_j c_ij dist(x, y_ij)^2, with the weights of kernel ridge
    regression inside each client, c_i = (G_i + ridge I)^-1 g_i for a Gaussian kernel of the
    features. Weights may be negative.

    Attributes
    ----------
    embedding
        Names, features and points.
    query
        The name whose point is predicted; it is nobody's sample.
    partition
        How the others are divided.
    clients
        Number of clients.
    bandwidth
        Width of the kernel, in units of the features.
    ridge
        What is added to the diagonal of a client's kernel matrix.
    start
        First iterate, spatial part; None for a random point.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    manifold
        Where x lives, when other maps are wanted than the default of `Lorentz(dim)`.
    precision
        Type of the targets, points and gradients.

    Examples
    --------
    >>> from driftfold.data.balanced_tree import BalancedTree
    >>> tree = PoincareEmbedding(BalancedTree(2, 3), epochs=30)
    >>> problem = HyperbolicPrediction(tree, "r.0.1", clients=2, bandwidth=0.5).build(Seed(1))
    >>> problem.coefficients.shape  # 15 nodes less the query
    (2, 7)
    """

    embedding: Embedding = field(default_factory=PoincareEmbedding)
    query: str = "primate.n.02"
    partition: Partition = field(default_factory=InOrder)
    clients: Annotated[int, Gt(0)] = 9
    bandwidth: Annotated[float, Gt(0)] = 0.03
    ridge: Annotated[float, Gt(0)] = 1e-5
    start: tuple[float, ...] | None = None
    weighting: Weighting = "clients"
    manifold: Manifold | None = None
    precision: Literal["float64", "float32"] = "float64"

    def build(self, seed: Seed) -> HyperbolicPredictionProblem:
        """Load or train the embedding, divide the samples, and compute their weights."""
        named = self.embedding.load(seed)
        row, width = named.number(self.query), named.features.shape[1]
        query, truth = named.features[row], named.points[row]
        samples = np.delete(np.concatenate([named.features, named.points], axis=1), row, axis=0)
        data, fleet = divide_dataset(
            Dataset(x=samples), self.partition, self.clients, self.weighting, seed
        )
        return HyperbolicPredictionProblem(
            fleet,
            lorentz(self.manifold, len(truth)),
            np.ascontiguousarray(data.x[..., width:], dtype=self.precision),
            self._coefficients(data, fleet, query).astype(self.precision),
            truth,
            self._first(len(truth)),
        )

    def _coefficients(self, data: ClientData, fleet: Fleet, query: Floats) -> Floats:
        coefficients = np.zeros(data.x.shape[:2])
        for own, count, out in zip(data.x, data.samples, coefficients, strict=True):
            features = own[:count, : len(query)]
            out[:count] = ridge_weights(features, query, self.bandwidth, self.ridge)
        total = fleet.importance @ (coefficients.sum(axis=1) / np.maximum(data.samples, 1))
        if not total > 0:
            raise SpecError(
                f"the samples' weights have the mean {total:.3g}, so the objective falls for ever "
                f"far out: the features of {self.query!r} are too far from all others; use a "
                "larger bandwidth, a larger ridge or another query"
            )
        return coefficients

    def _first(self, dimension: int) -> Floats | None:
        if self.start is None:
            return None
        if len(self.start) != dimension:
            raise SpecError(
                f"the start has {len(self.start)} numbers, but points have dimension {dimension}; "
                "give its spatial part (without x_0), or leave it out"
            )
        return np.array(self.start, dtype=np.float64)
