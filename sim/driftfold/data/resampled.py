"""Clients that draw their samples from one data set, which may be smaller than all of them."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.data.base import Dataset, Partition
from driftfold.data.log_gamma import log_gamma
from driftfold.data.shuffle import labels_of
from driftfold.registry import register
from driftfold.rng import Seed

_TILE = 1 << 14  # clients that draw at a time


@register("resampled")
@dataclass(frozen=True)
class Resampled(Partition):
    """Each client draws samples of its own from the data, with replacement.

    Several clients may hold the same sample, so a million of them fit into memory: each takes 4
    bytes a sample beside the data. Only `softmax_regression` takes them.

    Attributes
    ----------
    samples
        Samples of each client.
    alpha
        Label skew: each client draws its shares of the classes from Dirichlet(alpha, ..., alpha),
        and each sample's class by them (Hsu et al., "Measuring the effects of non-identical data
        distribution", 2019). None: any sample is as likely as any other.

    Examples
    --------
    >>> data = Dataset(x=np.zeros((10, 1)), y=np.arange(10) % 2)
    >>> Resampled(samples=4, alpha=0.1).split(data, 3, Seed(1)).shape
    (3, 4)
    """

    samples: Annotated[int, Gt(0)] = 30
    alpha: Annotated[float, Gt(0)] | None = None

    shares = True

    def split(  # type: ignore[override]  # 4 bytes a row number
        self, dataset: Dataset, clients: int, seed: Seed
    ) -> npt.NDArray[np.int32]:
        """Row numbers, shape (N, samples)."""
        rows = np.empty((clients, self.samples), dtype=np.int32)
        stream = seed.stream("partition")
        order = shares = None
        count = np.array([len(dataset.x)])
        if self.alpha is not None:
            y = labels_of(dataset, "resampled")
            order, count = np.argsort(y, kind="stable"), np.bincount(y)
            shares = _shares(seed, self.alpha, len(count), clients)
            shares[:, count == 0] = 0
        first = np.cumsum(count) - count
        for start in range(0, clients, _TILE):
            ids = np.arange(start, min(clients, start + _TILE))
            u, v = np.moveaxis(
                stream.uniform(ids, 0, 2 * self.samples).reshape(*ids.shape, -1, 2), -1, 0
            )
            label = np.zeros(u.shape, dtype=np.int64)
            if shares is not None:
                upper = np.cumsum(shares[ids], axis=1)
                u = u * upper[:, -1:]
                for k in range(len(count) - 1):
                    label += u >= upper[:, k, None]
            place = first[label] + (v * count[label]).astype(np.int64)
            rows[ids] = place if order is None else order[place]
        return rows


def _shares(seed: Seed, alpha: float, classes: int, clients: int) -> Floats:
    """Shares of the classes, up to a factor of each client, shape (N, classes)."""
    gammas = log_gamma(seed.stream("partition.shares"), alpha, clients, classes)
    shares: Floats = np.exp(gammas - gammas.max(axis=1, keepdims=True))
    return shares
