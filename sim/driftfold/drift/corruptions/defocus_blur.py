"""Defocus blur: a lens at the wrong distance."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.borders import mirror
from driftfold.registry import register
from driftfold.rng import Seed

LENSES = ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1))
"""Radius of the disk and deviation of the Gaussian that smooths it, in pixels, by severity."""


@register("defocus_blur")
@dataclass(frozen=True)
class DefocusBlur(Corruption):
    """Mean over a disk of radius 0.3 to 1.5 pixels, itself smoothed; edges are mirrored.

    A disk of less than one pixel is a point, so severities 1 to 3 are the smoothing alone.

    >>> point = np.zeros((1, 9, 9, 1))
    >>> point[0, 4, 4] = 1.0
    >>> DefocusBlur().corrupt(point, 5, np.array([0]))[0, 4, 2:7, 0].round(3).tolist()
    [0.0, 0.111, 0.111, 0.111, 0.0]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Add up what the disk shows."""
        disk = kernel(*LENSES[severity - 1])
        reach = len(disk) // 2
        height, width = planes.shape[2:]
        down = mirror(np.arange(-reach, height + reach), height)
        right = mirror(np.arange(-reach, width + reach), width)
        padded = planes[:, :, down[:, None], right]
        blurred = np.zeros_like(planes)
        for (i, j), weight in np.ndenumerate(disk):
            if weight:
                blurred += weight * padded[:, :, i : i + height, j : j + width]
        return blurred


@cache
def kernel(radius: float, smoothing: float) -> Floats:
    """Weights of a smoothed disk, of sum 1, over -r - 1 .. r + 1 either way, r the whole radius.

    >>> kernel(1.0, 0.2).round(3).tolist()[2]
    [0.0, 0.2, 0.2, 0.2, 0.0]
    """
    reach = int(radius) + 1
    across = np.arange(-reach, reach + 1)
    disk = (across**2 + across[:, None] ** 2 <= radius**2).astype(np.float64)
    disk /= disk.sum()
    three = np.exp(-0.5 * (np.array([-1.0, 0.0, 1.0]) / smoothing) ** 2)
    three /= three.sum()
    for axis in (0, 1):
        disk = sum(w * np.roll(disk, k - 1, axis) for k, w in enumerate(three.tolist()))
    disk.flags.writeable = False
    return disk
