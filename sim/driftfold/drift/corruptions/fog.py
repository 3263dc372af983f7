"""Fog: clouds between the camera and the scene."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.plasma import plasma
from driftfold.registry import register
from driftfold.rng import Seed

CLOUDS = ((0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75))
"""Amount and decay (see `plasma`), by severity."""


@register("fog")
@dataclass(frozen=True)
class Fog(Corruption):
    """Clouds p in [0, 1] laid over: (x + a p) m / (m + a), m the picture's largest value.

    The amount a is 0.2 to 1.5. Clouds are made in the next power of two of pixels and cut; a
    picture of black alone stays black.

    >>> import numpy as np
    >>> day = np.full((1, 32, 32, 1), 0.8)
    >>> foggy = Fog().corrupt(day, 5, np.array([0]))
    >>> round(float(foggy.min()), 2), round(float(foggy.max()), 2)
    (0.28, 0.8)
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Lay the clouds over."""
        amount, decay = CLOUDS[severity - 1]
        height, width = planes.shape[2:]
        size = 1 << (max(height, width) - 1).bit_length()
        uniform = self.stream(seed, severity).uniform(rows, 0, size**2 - 1)
        clouds = plasma(uniform, size, decay)[:, None, :height, :width]
        most = planes.max(axis=(1, 2, 3), keepdims=True)
        foggy: Floats = (planes + amount * clouds) * (most / (most + amount))
        return foggy
