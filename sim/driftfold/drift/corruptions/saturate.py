"""Saturate: colours too pale or too strong."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions.base import Corruption
from driftfold.drift.corruptions.colours import saturation, with_saturation
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

CHANGES = ((0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2))
"""Factor and addend of the saturation, by severity."""


@register("saturate")
@dataclass(frozen=True)
class Saturate(Corruption):
    """Saturation times 0.3, 0.1, 1.5, 2 or 2.5, plus 0, 0, 0, 0.1 or 0.2.

    Paler at severities 1 and 2, stronger from 3 on, where greys get the hue of red. Grey pictures
    have no colours to change and are refused. One of the four kinds of CIFAR-10-C beside its 15.

    >>> red = np.tile([0.5, 0.25, 0.25], (1, 8, 8, 1))
    >>> Saturate().corrupt(red, severity=3, rows=np.array([0]))[0, 0, 0].tolist()
    [0.5, 0.125, 0.125]
    """

    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        """Change the saturation."""
        if planes.shape[1] == 1:
            raise DataError(
                "corruption 'saturate' changes colours, and these pictures are grey; choose "
                "another corruption"
            )
        factor, addend = CHANGES[severity - 1]
        return with_saturation(planes, np.clip(factor * saturation(planes) + addend, 0.0, 1.0))
