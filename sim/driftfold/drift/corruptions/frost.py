"""Frost: ice on the window."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.colours import grey
from driftfold.drift.corruptions.frost_textures import SIDE, textures
from driftfold.registry import register
from driftfold.rng import Seed

MIXTURES = ((1.0, 0.2), (1.0, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45))
"""Weights of picture and ice, by severity."""


@register("frost")
@dataclass(frozen=True)
class Frost(Corruption):
    """A weighted sum of the picture and of a cut of ice on a window, chosen by chance.

    The weights are CIFAR-10-C's; the ice is not, which comes from five photographs that driftfold
    does not have. Its own five textures have the photographs' mean colours and deviations of light,
    and no crystals to recognise. Results under it are not results under CIFAR-10-C's frost.

    >>> night = np.zeros((1, 32, 32, 3))
    >>> [round(float(Frost().corrupt(night, s, np.array([0])).mean()), 2) for s in (1, 5)]
    [0.07, 0.21]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Lay the ice over."""
        picture, ice = MIXTURES[severity - 1]
        height, width = planes.shape[2:]
        share = self.stream(seed, severity).uniform(rows, 0, 3)
        chosen = (share * [len(textures()), SIDE, SIDE]).astype(np.int64)
        pane, top, left = chosen.T[:, :, None, None]
        down = (top + np.arange(height)[:, None]) % SIDE  # the textures go on over their edges
        right = (left + np.arange(width)) % SIDE
        cut = textures()[pane, :, down, right].transpose(0, 3, 1, 2)
        return picture * planes + ice * (cut if planes.shape[1] == 3 else grey(cut))
