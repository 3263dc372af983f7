"""Pixelate: fewer, larger pixels."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import apply, boxed
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed

SCALES = (0.95, 0.9, 0.85, 0.75, 0.65)
"""By severity."""


@register("pixelate")
@dataclass(frozen=True)
class Pixelate(Corruption):
    """Sides shrunk to 95% down to 65%, rounded down, and enlarged again, both by Pillow's BOX.

    CIFAR-10-C also rounds to bytes in between.

    >>> import numpy as np
    >>> stripes = np.tile(np.arange(8) % 2.0, (1, 8, 1))[..., None]
    >>> Pixelate().corrupt(stripes, severity=5, rows=np.array([0]))[0, 0, :, 0].tolist()
    [0.5, 0.5, 0.0, 0.5, 0.5, 1.0, 0.5, 0.5]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Shrink and enlarge."""
        sides = planes.shape[2:]
        few = [int(side * SCALES[severity - 1]) for side in sides]
        small = apply(planes, boxed(sides[0], few[0]), boxed(sides[1], few[1]))
        return apply(small, boxed(few[0], sides[0]), boxed(few[1], sides[1]))
