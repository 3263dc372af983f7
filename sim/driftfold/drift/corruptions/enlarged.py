"""Enlarged: small pictures corrupted at the size that the constants are meant for."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.axes import apply, coarser, finer
from driftfold.drift.corruptions.base import Corruption
from driftfold.registry import register
from driftfold.rng import Seed


@register("enlarged")
@dataclass(frozen=True)
class Enlarged(Corruption):
    """A corruption of pictures enlarged bilinearly; of the result, means of blocks are taken back.

    For pictures much smaller than the 32 x 32 pixels of CIFAR-10-C's constants: 8 x 8 digits by a
    factor of 4. The same is done to what the corruption leaves alone, so that a picture also loses
    its finest detail.

    Attributes
    ----------
    corruption
        What spoils the enlarged pictures.
    factor
        Pixels in place of each, along either side.

    >>> import numpy as np
    >>> from driftfold.drift.corruptions import Contrast
    >>> ramp = np.tile(np.linspace(0.0, 1.0, 8), (1, 8, 1))[..., None]
    >>> Enlarged(Contrast(), 4).corrupt(ramp, 2, np.array([0]))[0, 0, :3, 0].round(3).tolist()
    [0.259, 0.321, 0.393]
    """

    corruption: Corruption
    factor: Annotated[int, Ge(1), Le(64)] = 4

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Enlarge, corrupt, and average."""
        height, width = planes.shape[2:]
        large = apply(planes, finer(height, self.factor), finer(width, self.factor))
        spoilt = self.corruption.apply(large, severity, rows, seed).clip(0.0, 1.0)
        return apply(spoilt, coarser(height, self.factor), coarser(width, self.factor))
