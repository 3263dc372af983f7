"""Gaussian blur."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import blur
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

DEVIATIONS = (0.4, 0.6, 0.7, 0.8, 1.0)
"""Pixels, by severity."""


@register("gaussian_blur")
@dataclass(frozen=True)
class GaussianBlur(Corruption):
    """Blur by a Gaussian of 0.4 to 1 pixels; edges are repeated.

    One of the four kinds of CIFAR-10-C beside its 15.

    >>> import numpy as np
    >>> point = np.zeros((1, 9, 9, 1))
    >>> point[0, 4, 4] = 1.0
    >>> GaussianBlur().corrupt(point, 5, np.array([0]))[0, 4, 3:6, 0].round(3).tolist()
    [0.097, 0.159, 0.097]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Blur."""
        return blur(planes, DEVIATIONS[severity - 1])
