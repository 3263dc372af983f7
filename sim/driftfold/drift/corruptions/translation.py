"""Translation: the object is not in the middle."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.borders import edge
from driftfold.drift.corruptions.places import pick
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register
from driftfold.rng import Seed


@register("translation")
@dataclass(frozen=True)
class Translation(Corruption):
    """A shift by as many pixels as the severity, in any direction, rounded; edges are repeated.

    Not in CIFAR-10-C; it moves small pictures of digits and clothes more than most others.

    >>> point = np.zeros((1, 9, 9, 1))
    >>> point[0, 4, 4] = 1.0
    >>> np.argwhere(Translation().corrupt(point, 3, np.array([0]))).tolist()
    [[0, 1, 6, 0]]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Shift."""
        turns = 2 * np.pi * self.stream(seed, severity).uniform(rows, 0, 1)[:, :, None]
        height, width = planes.shape[2:]
        down = np.arange(height)[:, None] - _whole(severity * in_whole_vectors(np.sin, turns))
        right = np.arange(width) - _whole(severity * in_whole_vectors(np.cos, turns))
        return pick(planes, down, right, edge)


def _whole(steps: Floats) -> Ints:
    return np.rint(steps).astype(np.int64)
