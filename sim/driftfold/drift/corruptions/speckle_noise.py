"""Speckle noise: as strong as the light it falls on."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

DEVIATIONS = (0.06, 0.10, 0.12, 0.16, 0.20)
"""By severity."""


@register("speckle_noise")
@dataclass(frozen=True)
class SpeckleNoise(Corruption):
    """Each value times 1 plus normal noise, standard deviation 0.06 to 0.20.

    One of the four kinds of CIFAR-10-C beside its 15.

    >>> grey = np.full((1, 32, 32, 3), 0.5)
    >>> noisy = SpeckleNoise().corrupt(grey, severity=5, rows=np.array([7]))
    >>> round(float((noisy - grey).std()), 2)
    0.1
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Scale each value by chance."""
        count = int(np.prod(planes.shape[1:]))
        noise = self.stream(seed, severity).normal(rows, 0, count).reshape(planes.shape)
        return planes * (1 + DEVIATIONS[severity - 1] * noise)
