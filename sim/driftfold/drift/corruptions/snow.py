"""Snow: flakes that fall, and a paler world behind them."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import apply, zoom
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.colours import grey
from driftfold.drift.corruptions.streaks import streaked
from driftfold.registry import register
from driftfold.rng import Seed


@dataclass(frozen=True)
class Fall:
    """Constants of a snowfall: of normal noise, its enlargement, what is flake, motion, and mix."""

    mean: float
    deviation: float
    enlargement: float
    threshold: float
    radius: int
    smear: float
    clear: float


FALLS = (
    Fall(0.10, 0.2, 1.00, 0.60, 8, 3.0, 0.95),
    Fall(0.10, 0.2, 1.00, 0.50, 10, 4.0, 0.90),
    Fall(0.15, 0.3, 1.75, 0.55, 10, 4.0, 0.90),
    Fall(0.25, 0.3, 2.25, 0.60, 12, 6.0, 0.85),
    Fall(0.30, 0.3, 1.25, 0.65, 14, 12.0, 0.80),
)
"""By severity."""


@register("snow")
@dataclass(frozen=True)
class Snow(Corruption):
    """Noise above a threshold, enlarged and drawn out downwards, laid twice over a paled picture.

    The second layer is the first upside down, so that some flakes rise.

    >>> night = np.zeros((1, 32, 32, 1))
    >>> [round(float(Snow().corrupt(night, s, np.array([0])).mean()), 2) for s in (1, 5)]
    [0.03, 0.2]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Pale the picture and let it snow."""
        fall = FALLS[severity - 1]
        stream = self.stream(seed, severity)
        height, width = planes.shape[2:]
        noise = stream.normal(rows, 0, height * width).reshape(-1, 1, height, width)
        layer = fall.mean + fall.deviation * noise
        layer = apply(layer, zoom(height, fall.enlargement), zoom(width, fall.enlargement))
        layer = np.where(layer < fall.threshold, 0.0, np.minimum(layer, 1.0))
        angles = -135.0 + 90.0 * stream.uniform(rows, 1, 1)[:, 0]
        layer = streaked(layer, fall.radius, fall.smear, angles)
        paled = np.maximum(planes, 1.5 * grey(planes) + 0.5)
        mixed: Floats = fall.clear * planes + (1 - fall.clear) * paled
        return mixed + layer + layer[:, :, ::-1, ::-1]
