"""Sorted by label, cut into shards, a few shards a client."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from driftfold.arrays import Ints
from driftfold.data.base import Dataset, Partition
from driftfold.data.shuffle import enough, labels_of, shuffled
from driftfold.registry import register
from driftfold.rng import Seed


@register("shards")
@dataclass(frozen=True)
class Shards(Partition):
    """The label shards of McMahan et al. (2017), section 3, as the RFedAGS experiments use them.

    Samples are sorted by label and cut into N * per_client equal shards (sizes differ by at most
    one); the shards are shuffled, and each client takes the next `per_client` of them. When the
    shards are smaller than the classes, a client sees at most 2 * per_client classes.

    Attributes
    ----------
    per_client
        Shards of each client; the fewer, the more its labels are skewed.
    seed
        Seed of the shuffle, so that experiments with different seeds divide the samples alike, or
        None for the experiment's own.

    Examples
    --------
    >>> data = Dataset(x=np.zeros((4, 1)), y=np.array([1, 0, 1, 0]))
    >>> [data.y[rows].tolist() for rows in Shards(per_client=1).split(data, 2, Seed(2))]
    [[1, 1], [0, 0]]
    """

    per_client: Annotated[int, Gt(0)] = 8
    seed: Annotated[int, Ge(0), Le(2**64 - 1)] | None = None

    def split(self, dataset: Dataset, clients: int, seed: Seed) -> list[Ints]:
        """All rows are used."""
        enough(dataset, clients, parts=self.per_client)
        order = np.argsort(labels_of(dataset, "shards"), kind="stable")
        shards = np.array_split(order, clients * self.per_client)
        own_seed = seed if self.seed is None else Seed(self.seed)
        order_of_shards = shuffled(own_seed.stream("partition"), len(shards))
        dealt = order_of_shards.reshape(clients, self.per_client)
        return [np.concatenate([shards[i] for i in own]) for own in dealt]
