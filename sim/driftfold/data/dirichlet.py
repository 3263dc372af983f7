"""Each class spread over the clients by a draw from a Dirichlet distribution."""

import heapq
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats, Ints
from driftfold.data.base import Dataset, Partition
from driftfold.data.log_gamma import log_gamma
from driftfold.data.shuffle import enough, labels_of, shuffled
from driftfold.registry import register
from driftfold.rng import Seed


@register("dirichlet")
@dataclass(frozen=True)
class DirichletLabels(Partition):
    """Label skew after Yurochkin et al., "Bayesian nonparametric federated learning" (2019).

    For each class, shares of the clients are drawn from Dirichlet(alpha, ..., alpha) and the
    class's samples, in random order, are cut at these shares. Clients differ in size too. A client
    left with fewer than `minimum` samples then takes the missing ones, one at a time and at random,
    from whoever has most at that moment; so a split is always found when there are enough samples.

    Attributes
    ----------
    alpha
        Concentration; the smaller, the more labels are skewed (0.1 strong, 100 hardly any).
    minimum
        Least samples of a client.

    Examples
    --------
    >>> data = Dataset(x=np.zeros((40, 1)), y=np.arange(40) % 2)
    >>> parts = DirichletLabels(alpha=0.3, minimum=4).split(data, 5, Seed(1))
    >>> sum(map(len, parts)), min(map(len, parts)) >= 4
    (40, True)
    """

    alpha: Annotated[float, Gt(0)] = 0.5
    minimum: Annotated[int, Ge(0)] = 1

    def split(self, dataset: Dataset, clients: int, seed: Seed) -> list[Ints]:
        """All rows are used."""
        y = labels_of(dataset, "dirichlet")
        enough(dataset, clients, parts=self.minimum)
        stream = seed.stream("partition")
        shares = self._shares(log_gamma(stream, self.alpha, int(y.max()) + 1, clients))
        order = shuffled(seed.stream("partition order"), len(y))
        parts: list[list[Ints]] = [[] for _ in range(clients)]
        for label, share in enumerate(shares):
            rows = order[y[order] == label]
            cuts = np.rint(np.cumsum(share)[:-1] * len(rows)).astype(np.int64)
            for part, piece in zip(parts, np.split(rows, cuts), strict=True):
                part.append(piece)
        return self._topped_up([np.concatenate(part) for part in parts], order)

    @staticmethod
    def _shares(log_gammas: Floats) -> Floats:
        """Gamma variates, scaled to sum 1 in each row."""
        shares: Floats = np.exp(log_gammas - log_gammas.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _topped_up(self, parts: list[Ints], order: Ints) -> list[Ints]:
        place = np.argsort(order)  # a sample's place in the random order
        pools = [part[np.argsort(place[part])].tolist() for part in parts]
        richest = [(-len(pool), client) for client, pool in enumerate(pools)]
        heapq.heapify(richest)
        for pool in pools:
            while len(pool) < self.minimum:
                _, donor = richest[0]
                pool.append(pools[donor].pop())
                heapq.heapreplace(richest, (-len(pools[donor]), donor))
        return [np.array(pool, dtype=np.int64) for pool in pools]
