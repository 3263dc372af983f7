"""Glass blur: a pane that scatters light to the next pixel."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import blur
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.borders import edge
from driftfold.drift.corruptions.places import pick
from driftfold.registry import register
from driftfold.rng import Seed

PANES = ((0.05, 1), (0.25, 1), (0.4, 1), (0.25, 2), (0.4, 2))
"""Deviation of the blur before and after in pixels, and how often pixels are moved, by severity."""


@register("glass_blur")
@dataclass(frozen=True)
class GlassBlur(Corruption):
    """Blur, take each pixel from itself, above, left or above left by chance, and blur again.

    The two upper rows and left columns stay. So it is in CIFAR-10-C: its script means to exchange
    the two pixels, but through views of one array copies the one to the other.

    >>> ramp = np.tile(np.linspace(0.0, 1.0, 11)[:, None], (1, 1, 11, 1)).reshape(1, 11, 11, 1)
    >>> spoilt = GlassBlur().corrupt(ramp, severity=1, rows=np.array([0]))
    >>> sorted(set((ramp - spoilt).round(3).ravel().tolist()))
    [0.0, 0.1]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Blur, move and blur."""
        deviation, times = PANES[severity - 1]
        stream = self.stream(seed, severity)
        height, width = planes.shape[2:]
        down, right = np.indices((height, width))
        free = (down >= 2) & (right >= 2)
        spoilt = blur(planes, deviation)
        for visit in range(times):
            moves = stream.integers(rows, visit, 2 * height * width, high=2)
            up, left = moves.reshape(-1, 2, height, width).swapaxes(0, 1)
            spoilt = pick(spoilt, down - free * up, right - free * left, edge)
        return blur(spoilt, deviation)
