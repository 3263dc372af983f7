"""The factor by which sines modulate a probability."""

from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.lanes import in_whole_vectors


@final
@dataclass(frozen=True)
class SineFactor:
    """f(n) = swing sin(2 pi n / period) + 1 - swing, between 1 - 2 swing and 1.

    >>> SineFactor(swing=0.3, period=20.0)(np.array([0, 5, 15])).round(3)
    array([0.7, 1. , 0.4])
    """

    swing: float
    period: float

    def __call__(self, slots: Ints) -> Floats:
        """Factor in each slot, shape (m,)."""
        angle = 2 * np.pi * np.fmod(slots, self.period) / self.period
        sine: Floats = in_whole_vectors(np.sin, angle)
        return self.swing * sine + (1 - self.swing)
