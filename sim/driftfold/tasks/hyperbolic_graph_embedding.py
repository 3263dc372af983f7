"""Embedding a graph whose edges are spread over the clients, in hyperbolic space."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.balanced_tree import BalancedTree
from driftfold.data.base import ClientData, Dataset, Partition
from driftfold.data.iid import Iid
from driftfold.data.relation import RelationSource
from driftfold.fleet import Fleet
from driftfold.manifolds.lorentz import Lorentz
from driftfold.manifolds.power import Power
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Batch, Task
from driftfold.tasks.division import Weighting, divide_dataset
from driftfold.tasks.link_ranking import mean_rank_and_precision
from driftfold.tasks.negatives import sampled_negatives
from driftfold.tasks.ranking_loss import pull_and_push, ranking_loss
from driftfold.tasks.related import Related
from driftfold.tasks.sampled import SampledProblem, SeparableView

_TILE_BYTES = 2**22  # of clients whose losses are computed at a time


class GraphEmbeddingProblem(SampledProblem):
    """f_i(x) = (1/n_i) sum_j -log softmax(-d)(v_j) + (pull/2n) sum_u dist(x_u, origin)^2.

    A sample is a pair (u, v) with nodes v'_1, v'_2, ... that u is not related to; d are the
    distances of u to v and to them. x has one point of hyperbolic space for each of n nodes,
    shape (n, dim). F is not convex, and its smallest value is not known.

    Parameters
    ----------
    data
        Rows (u, v, v'_1, ...) of node numbers, -1 for what is left out, shape (N, n_max, 2 + m).
    fleet
        The clients.
    known
        Which of the n nodes are related.
    space
        Where a node's point is.
    pull
        Weight of the nodes' squared distances to the origin.
    precision
        Type of points and gradients.

    Examples
    --------
    >>> problem = HyperbolicGraphEmbedding(BalancedTree(2, 2), clients=3).build(Seed(1))
    >>> problem.manifold.shape
    (7, 2)
    >>> sorted(problem.evaluate(problem.initial_point(), time=0.0))
    ['loss', 'map', 'mean_rank']
    """

    def __init__(
        self,
        data: ClientData,
        fleet: Fleet,
        known: Related,
        space: Lorentz,
        pull: float,
        precision: Literal["float64", "float32"] = "float64",
    ) -> None:
        super().__init__(data, fleet)
        self.known = known
        self.space = space
        self.pull = pull
        self.dtype = np.dtype(precision)
        self.itemsize = self.dtype.itemsize
        self.manifold = Power(space, known.nodes)

    @property
    def client_bytes(self) -> int:
        """Three embeddings, and for each sample its nodes' points and two vectors for each."""
        dim = self.space.dim
        return self.itemsize * dim * (3 * self.known.nodes + 3 * self.longest * self.dimension)

    def initial_point(self) -> Array:
        """Return points near the origin, normal with standard deviation 0.01."""
        nodes = np.arange(self.known.nodes)
        drawn = self.fleet.seed.stream("initial point").normal(nodes, 0, self.space.dim)
        return (0.01 * drawn).astype(self.dtype)

    def view(
        self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0
    ) -> "GraphEmbeddingView":
        """Return the pairs of some clients."""
        return GraphEmbeddingView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective, and how well distances tell related nodes from others.

        `mean_rank` (1 is best) and `map`, mean average precision (1 is best), are those of Nickel
        and Kiela (2017), over all pairs of the relation.
        """
        x = x.astype(np.float64, copy=False)
        rank, precision = mean_rank_and_precision(x, self.known)
        return {"loss": self.objective(x), "mean_rank": rank, "map": precision}

    def objective(self, x: Array) -> float:
        """F at one point x."""
        x = x.astype(np.float64, copy=False)
        tile = max(1, _TILE_BYTES // self.client_bytes)
        loss = 0.0
        for start in range(0, self.fleet.size, tile):
            clients = np.arange(start, min(start + tile, self.fleet.size))
            view = self.view(clients, np.zeros_like(clients))
            losses = view.loss(x, view.everything())
            loss += float(np.vdot(self.fleet.importance[clients], losses))
        return loss


class GraphEmbeddingView(SeparableView):
    """The pairs of some clients."""

    def __init__(self, problem: GraphEmbeddingProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._graph = problem

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Sum of the pairs' gradients at each node, and the pull to the origin."""
        x = self._spread(x)
        problem, points = self._graph, self._points(x)
        rows, weights = self._pairs(batch)
        count, n, dim = points.shape
        gradients = pull_and_push(problem.space, _at(points, rows), rows[..., 2:] >= 0)
        gradients *= weights[..., None, None]
        # Left out: the loss does not depend on them, so any node may get their zeros.
        places = (np.arange(count)[:, None, None] * n + np.maximum(rows, 0)).reshape(-1)
        out = np.empty_like(points)
        for k in range(dim):
            total = np.bincount(places, gradients[..., k].reshape(-1), minlength=count * n)
            out[..., k] = total.reshape(count, n)
        if problem.pull:
            out -= problem.pull / n * problem.space.log(points, np.zeros_like(points))
        return out.reshape(x.shape)

    def loss(self, x: Array, batch: Batch) -> Array:
        """Weighted mean of the pairs' losses, and the penalty."""
        x = self._spread(x)
        problem, points = self._graph, self._points(x)
        rows, weights = self._pairs(batch)
        losses = ranking_loss(problem.space, _at(points, rows), rows[..., 2:] >= 0)
        total = (weights * losses).sum(axis=-1)
        if problem.pull:
            away = problem.space.dist(np.zeros_like(points), points)
            total += problem.pull / 2 * (away * away).mean(axis=-1)
        made: Array = total.reshape(self.clients.shape)
        return made

    def _points(self, x: Array) -> Array:
        # One layout for all: a sum over entries that lie apart may round differently.
        return np.ascontiguousarray(x).reshape(-1, *self._graph.manifold.shape)

    def _pairs(self, batch: Batch) -> tuple[Ints, Array]:
        """Rows of nodes (C, B, 2 + m) and their weights (C, B)."""
        data = self._graph.data.x
        if batch.indices is None:
            rows = data[self.clients]
        else:
            rows = data.reshape(-1, data.shape[-1])[self._rows(batch.indices)]
        shape = (-1, *rows.shape[-2:])
        weights = batch.weights.astype(self._graph.dtype, copy=False)
        return rows.reshape(shape), weights.reshape(-1, weights.shape[-1])


def _at(points: Array, rows: Ints) -> Array:
    """Each client's points (C, n, dim) of nodes (C, B, k), shape (C, B, k, dim)."""
    who = np.arange(len(points))[:, None, None]
    found: Array = points[who, rows]
    return found


@register("hyperbolic_graph_embedding")
@dataclass(frozen=True)
class HyperbolicGraphEmbedding(Task):
    """Embedding of the nodes of a relation whose pairs are spread over the clients.

    Each client's loss is that of Nickel and Kiela (2017) for its own pairs: -log of e^-d(u,v)
    over its sum with e^-d(u,v') for some nodes v' that u is not related to. These are drawn once,
    so that F does not change.

    Attributes
    ----------
    relation
        Which pairs are related.
    dimension
        Dimension of the hyperbolic space.
    negatives
        Nodes v' drawn for each pair.
    partition
        How the pairs are divided.
    clients
        Number of clients.
    pull
        Weight of the nodes' mean squared distance to the origin, halved; above 0 keeps the points
        from drifting out for ever.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    transport_by
        How `Lorentz` carries vectors: "parallel" or "projection".
    precision
        Type of points and gradients.

    Examples
    --------
    >>> task = HyperbolicGraphEmbedding(BalancedTree(2, 2), clients=2, negatives=4)
    >>> task.build(Seed(1)).data.x.shape  # 10 pairs
    (2, 5, 6)
    """

    relation: RelationSource = field(default_factory=BalancedTree)
    dimension: Annotated[int, Gt(0)] = 2
    negatives: Annotated[int, Gt(0)] = 10
    partition: Partition = field(default_factory=Iid)
    clients: Annotated[int, Gt(0)] = 10
    pull: Annotated[float, Ge(0)] = 0.0
    weighting: Weighting = "clients"
    transport_by: Literal["parallel", "projection"] = "parallel"
    precision: Literal["float64", "float32"] = "float64"

    def footprint(self) -> int:
        """Bytes of the rows as they are drawn and divided, and of three embeddings."""
        nodes, pairs = self.relation.extent()
        return 32 * pairs * (self.negatives + 2) + 24 * nodes * self.dimension

    def build(self, seed: Seed) -> GraphEmbeddingProblem:
        """Load the relation, draw the nodes to compare with, and divide the pairs."""
        relation = self.relation.load(seed)
        known, pairs = Related.of(relation), relation.pairs
        drawn = sampled_negatives(seed.stream("negatives"), known, pairs, self.negatives, 0)
        rows = np.concatenate([pairs, drawn], axis=1)
        data, fleet = divide_dataset(
            Dataset(x=rows.astype(np.float64)), self.partition, self.clients, self.weighting, seed
        )
        data = replace(data, x=data.x.astype(np.int64))
        space = Lorentz(self.dimension, self.transport_by)
        return GraphEmbeddingProblem(data, fleet, known, space, self.pull, self.precision)
