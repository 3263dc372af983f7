"""Gaussian noise: a sensor in poor light."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

DEVIATIONS = (0.04, 0.06, 0.08, 0.09, 0.10)
"""By severity."""


@register("gaussian_noise")
@dataclass(frozen=True)
class GaussianNoise(Corruption):
    """Normal noise on each pixel and channel, standard deviation 0.04 to 0.10.

    >>> grey = np.full((1, 32, 32, 3), 0.5)
    >>> noisy = GaussianNoise().corrupt(grey, severity=5, rows=np.array([7]))
    >>> round(float((noisy - grey).std()), 2)
    0.1
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Add the noise."""
        count = int(np.prod(planes.shape[1:]))
        noise = self.stream(seed, severity).normal(rows, 0, count)
        return planes + DEVIATIONS[severity - 1] * noise.reshape(planes.shape)
