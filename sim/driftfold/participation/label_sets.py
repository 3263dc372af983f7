"""Which classes each client's data are of."""

from driftfold.arrays import Bools
from driftfold.errors import CapabilityError
from driftfold.fleet import Fleet


def label_sets(kind: str, fleet: Fleet) -> Bools:
    """Whether each client has samples of each class, shape (N, classes).

    Raises `CapabilityError`, which names `kind`, when the data have no labels.

    >>> import numpy as np
    >>> from driftfold.rng import Seed
    >>> shares = np.array([[0.2, 0.8], [0.0, 1.0]])
    >>> label_sets("label_cycle", Fleet(Seed(1), np.full(2, 5), np.full(2, 0.5), shares)).tolist()
    [[True, True], [False, True]]
    """
    if fleet.label_shares is None:
        raise CapabilityError(
            f"participation '{kind}' follows the labels, but these data have none; use labelled "
            "data, or participation 'bernoulli'"
        )
    has: Bools = fleet.label_shares > 0
    return has
