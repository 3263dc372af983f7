"""Each sample stays with the client that owns it by nature."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Ints
from driftfold.data.base import Dataset, Partition
from driftfold.data.equal_runs import EqualRuns
from driftfold.errors import SpecError
from driftfold.registry import register
from driftfold.rng import Seed


@register("natural")
@dataclass(frozen=True)
class Natural(Partition):
    """Client i gets the samples whose owner is i, in their order.

    Examples
    --------
    >>> data = Dataset(x=np.zeros((3, 1)), owner=np.array([1, 0, 1]))
    >>> [rows.tolist() for rows in Natural().split(data, 2, Seed(0))]
    [[1], [0, 2]]
    """

    def split(self, dataset: Dataset, clients: int, seed: Seed) -> Sequence[Ints]:
        """All rows are used; the seed is not."""
        owner, each = dataset.owner, dataset.each
        if owner is None and each is None:
            raise SpecError(
                "the partition 'natural' needs data that say who owns each sample; use 'iid', "
                "'shards' or 'dirichlet' for these data"
            )
        owners = dataset.clients
        if owners != clients:
            raise SpecError(
                f"the data belong to {owners} clients by nature, but {clients} were asked for; "
                "leave the number of clients of the task out, or use another partition"
            )
        if owner is None:
            assert each is not None
            return EqualRuns(clients, each)
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=clients))[:-1]
        return np.split(order, ends)
