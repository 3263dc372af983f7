"""Shot noise: light counted in photons."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.poisson import poisson
from driftfold.registry import register
from driftfold.rng import Seed

PHOTONS = (500, 250, 100, 75, 50)
"""Mean count at full brightness, by severity."""


@register("shot_noise")
@dataclass(frozen=True)
class ShotNoise(Corruption):
    """A Poisson count of mean c x in place of c x, c from 500 down to 50: variance x / c.

    >>> grey = np.full((1, 32, 32, 3), 0.5)
    >>> noisy = ShotNoise().corrupt(grey, severity=5, rows=np.array([7]))
    >>> round(float(noisy.std()), 2), (0.5 / 50) ** 0.5
    (0.1, 0.1)
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Count."""
        photons = PHOTONS[severity - 1]
        count = int(np.prod(planes.shape[1:]))
        uniform = self.stream(seed, severity).uniform(rows, np.arange(2)[:, None], count)
        whole, rest = uniform.reshape(2, *planes.shape)
        return poisson(photons * planes, whole, rest) / photons
