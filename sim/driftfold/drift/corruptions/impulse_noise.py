"""Impulse noise: salt and pepper, from bits that were lost."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

SHARES = (0.01, 0.02, 0.03, 0.05, 0.07)
"""By severity."""


@register("impulse_noise")
@dataclass(frozen=True)
class ImpulseNoise(Corruption):
    """1% to 7% of all values, each channel's on its own, become 0 or 1 with equal chance.

    >>> grey = np.full((1, 32, 32, 3), 0.5)
    >>> spoilt = ImpulseNoise().corrupt(grey, severity=5, rows=np.array([7]))
    >>> sorted(set(spoilt.ravel().tolist())), round(float((spoilt != 0.5).mean()), 2)
    ([0.0, 0.5, 1.0], 0.07)
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Strike some values."""
        share = SHARES[severity - 1]
        count = int(np.prod(planes.shape[1:]))
        struck = self.stream(seed, severity).uniform(rows, 0, count).reshape(planes.shape)
        return np.where(struck < share, np.where(struck < share / 2, 0.0, 1.0), planes)
