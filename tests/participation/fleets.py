"""Fleets and probabilities that the tests share."""

import numpy as np

from driftfold.arrays import Floats
from driftfold.fleet import Fleet
from driftfold.rng import Seed

# Probabilities of the published synthetic PCA experiment: MATLAB's rng(0), rand(40, 1), which is
# NumPy's RandomState(5489).
PUBLISHED: Floats = np.random.RandomState(5489).random_sample(40)


def fleet_of(size: int, seed: int = 1, label_shares: Floats | None = None) -> Fleet:
    return Fleet(
        Seed(seed),
        samples=np.full(size, 10),
        importance=np.full(size, 1 / size),
        label_shares=label_shares,
    )
