"""Samples dealt at random."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Ints
from driftfold.data.base import Dataset, Partition
from driftfold.data.shuffle import enough, shuffled
from driftfold.registry import register
from driftfold.rng import Seed


@register("iid")
@dataclass(frozen=True)
class Iid(Partition):
    """All samples in random order, cut into equal parts (sizes differ by at most one).

    Examples
    --------
    >>> data = Dataset(x=np.zeros((5, 1)))
    >>> [rows.tolist() for rows in Iid().split(data, 2, Seed(0))]
    [[...], [...]]
    """

    def split(self, dataset: Dataset, clients: int, seed: Seed) -> list[Ints]:
        """All rows are used."""
        enough(dataset, clients, parts=1)
        return np.array_split(shuffled(seed.stream("partition"), len(dataset.x)), clients)
