"""Brightness: more light."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.colours import with_value
from driftfold.registry import register
from driftfold.rng import Seed

GAINS = (0.05, 0.10, 0.15, 0.20, 0.30)
"""By severity."""


@register("brightness")
@dataclass(frozen=True)
class Brightness(Corruption):
    """0.05 to 0.3 more of the value of hue, saturation and value, up to 1.

    >>> red = np.tile([0.5, 0.25, 0.25], (1, 8, 8, 1))
    >>> Brightness().corrupt(red, severity=5, rows=np.array([0]))[0, 0, 0].tolist()
    [0.8, 0.4, 0.4]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Add to the value."""
        value = planes.max(axis=1, keepdims=True) + GAINS[severity - 1]
        return with_value(planes, np.minimum(value, 1.0))
