"""Samples dealt in the order of the data."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Ints
from driftfold.data.base import Dataset, Partition
from driftfold.data.shuffle import enough
from driftfold.registry import register
from driftfold.rng import Seed


@register("in_order")
@dataclass(frozen=True)
class InOrder(Partition):
    """All samples in their order, cut into equal parts (sizes differ by at most one).

    Examples
    --------
    >>> data = Dataset(x=np.zeros((5, 1)))
    >>> [rows.tolist() for rows in InOrder().split(data, 2, Seed(0))]
    [[0, 1, 2], [3, 4]]
    """

    def split(self, dataset: Dataset, clients: int, seed: Seed) -> list[Ints]:
        """All rows are used; the seed is not."""
        enough(dataset, clients, parts=1)
        return np.array_split(np.arange(len(dataset.x)), clients)
