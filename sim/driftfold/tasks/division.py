"""From a data set to a fleet: who has which samples, and how much each client counts."""

from typing import Annotated, Literal, TypeAlias

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats, Ints
from driftfold.data.assemble import assemble
from driftfold.data.base import ClientData, Data, Dataset, Partition
from driftfold.data.magnitude import check_magnitude
from driftfold.data.shared import share
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.registry import kind_of
from driftfold.rng import Seed

Clients: TypeAlias = Annotated[int, Gt(0)] | Literal["natural"]
"""How many clients there are; "natural": the owners that the data name."""

Weighting: TypeAlias = Literal["clients", "samples"]
"""Importance a_i of client i in F = sum_i a_i f_i: 1/N, or n_i / sum_j n_j."""


def divide(
    data: Data,
    partition: Partition,
    clients: Clients,
    weighting: Weighting,
    seed: Seed,
    shared: bool = False,
) -> tuple[ClientData, Fleet]:
    """Load `data` and divide them among `clients`.

    Raises `SpecError` when the number of clients is not known, when a client without samples would
    have to count, or when clients share samples and the task is not one for that (`shared`).

    >>> from driftfold.data import GaussianBlocks, Natural
    >>> data, fleet = divide(GaussianBlocks(4, 3, 2), Natural(), "natural", "clients", Seed(1))
    >>> data.x.shape, fleet.importance.tolist()
    ((4, 3, 2), [0.25, 0.25, 0.25, 0.25])
    """
    return divide_dataset(data.load(seed), partition, clients, weighting, seed, shared)


def divide_dataset(
    dataset: Dataset,
    partition: Partition,
    clients: Clients,
    weighting: Weighting,
    seed: Seed,
    shared: bool = False,
) -> tuple[ClientData, Fleet]:
    """Divide data that are at hand as `divide` does, if their numbers are finite.

    >>> dataset = Dataset(x=np.zeros((4, 1)), owner=np.array([0, 1, 1, 0]))
    >>> from driftfold.data import Natural
    >>> divide_dataset(dataset, Natural(), "natural", "samples", Seed(1))[1].importance.tolist()
    [0.5, 0.5]
    """
    check_magnitude(dataset.x, "the data")
    count = dataset.clients if clients == "natural" else clients
    if count is None:
        raise SpecError(
            "the number of clients is not set, and the data do not say who owns each sample; "
            "set `clients` of the task"
        )
    if partition.shares and not shared:
        raise SpecError(
            f"with the partition {kind_of(partition)!r} clients share samples, and this task keeps "
            "those of each client apart; use another partition, or the task 'softmax_regression'"
        )
    put = share if partition.shares else assemble
    blocks = put(dataset, partition.split(dataset, count, seed))
    fleet = Fleet(
        seed=seed,
        samples=blocks.samples,
        importance=_importance(blocks.samples, weighting),
        label_shares=blocks.label_shares,
    )
    return blocks, fleet


def _importance(samples: Ints, weighting: Weighting) -> Floats:
    if weighting == "samples":
        shares: Floats = samples / samples.sum()
        return shares
    empty = np.flatnonzero(samples == 0)
    if len(empty):
        raise SpecError(
            f"{len(empty)} of {len(samples)} clients have no sample (the first is client "
            f"{empty[0]}), so their mean loss is not defined, but weighting = 'clients' counts "
            "each client alike; use weighting = 'samples', fewer clients, or a partition that "
            "leaves nobody empty"
        )
    return np.full(len(samples), 1 / len(samples))
