"""Zoom blur: the camera comes nearer."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import apply, zoom
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

FACTORS = tuple(tuple(np.arange(1, stop, 0.01).tolist()) for stop in (1.06, 1.11, 1.16, 1.21, 1.26))
"""By severity; written as in the benchmark's script, where rounding includes the ends 1.06 and 1.11
and makes 1.25 a little more, which zooms by one pixel more."""


@register("zoom_blur")
@dataclass(frozen=True)
class ZoomBlur(Corruption):
    """Mean of the picture and of enlargements by 1, 1.01, ... up to 1.06, 1.11, 1.15, 1.2, 1.25.

    >>> edge = np.zeros((1, 16, 16, 1))
    >>> edge[:, :, 12:] = 1.0
    >>> ZoomBlur().corrupt(edge, 5, np.array([0]))[0, 8, 10:15, 0].round(2).tolist()
    [0.0, 0.0, 0.29, 0.77, 1.0]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Add up the enlargements."""
        factors = FACTORS[severity - 1]
        height, width = planes.shape[2:]
        seen = planes.copy()
        for factor in factors:
            seen += apply(planes, zoom(height, factor), zoom(width, factor))
        return seen / (len(factors) + 1)
