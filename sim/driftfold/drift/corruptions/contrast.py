"""Contrast: less of it."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

FACTORS = (0.75, 0.5, 0.4, 0.3, 0.15)
"""By severity."""


@register("contrast")
@dataclass(frozen=True)
class Contrast(Corruption):
    """Distances from the mean of each picture's channel, times 0.75 down to 0.15.

    >>> import numpy as np
    >>> halves = np.repeat([0.0, 1.0], 32).reshape(1, 8, 8, 1)
    >>> np.unique(Contrast().corrupt(halves, severity=2, rows=np.array([0]))).tolist()
    [0.25, 0.75]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Draw all values to the mean."""
        flat = planes.reshape(*planes.shape[:2], -1)
        mean: Floats = flat.mean(axis=-1)[:, :, None, None]
        return mean + FACTORS[severity - 1] * (planes - mean)
