"""Motion blur: the camera moves."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.streaks import streaked
from driftfold.registry import register
from driftfold.rng import Seed

MOTIONS = ((6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5))
"""Radius (the line has 2 radius + 1 places) and deviation, in pixels, by severity."""

STEEPEST = 45.0
"""Degrees from the horizontal."""


@register("motion_blur")
@dataclass(frozen=True)
class MotionBlur(Corruption):
    """Pixels drawn out over some 2 to 6 pixels along a line within 45 degrees of the horizontal.

    >>> import numpy as np
    >>> point = np.zeros((1, 9, 9, 1))
    >>> point[0, 4, 4] = 1.0
    >>> MotionBlur().corrupt(point, 1, np.array([0]))[0, :, :, 0].max(axis=0).round(2).tolist()
    [0.0, 0.01, 0.08, 0.35, 0.57, 0.0, 0.0, 0.0, 0.0]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Draw each picture out in a direction of its own."""
        share = self.stream(seed, severity).uniform(rows, 0, 1)[:, 0]
        return streaked(planes, *MOTIONS[severity - 1], angles=STEEPEST * (2 * share - 1))
