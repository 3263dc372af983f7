"""Random order, and the sizes it is cut into."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.data.base import Dataset
from driftfold.errors import SpecError
from driftfold.rng import Stream


def shuffled(stream: Stream, count: int, visit: int = 0) -> Ints:
    """Return 0 .. count-1 in random order, addressed by `visit`.

    >>> from driftfold.rng import Seed
    >>> sorted(shuffled(Seed(1).stream("partition"), 4).tolist())
    [0, 1, 2, 3]
    """
    return np.argsort(stream.uniform(0, visit, count), kind="stable")


def enough(dataset: Dataset, clients: int, parts: int) -> None:
    """Raise `SpecError` unless each of `clients` can get `parts` parts of one sample or more."""
    wanted = max(1, clients * parts)
    if len(dataset.x) < wanted:
        raise SpecError(
            f"{len(dataset.x)} samples cannot be divided among {clients} clients with at least "
            f"{parts} each ({wanted} in all); use fewer clients or more data"
        )


def labels_of(dataset: Dataset, partition: str) -> Ints:
    """Labels of the samples; raises `SpecError` when they have none."""
    if dataset.y is None:
        raise SpecError(
            f"the partition {partition!r} divides by label and these data have none; "
            "use 'iid' or 'natural', or data with labels"
        )
    return dataset.y
