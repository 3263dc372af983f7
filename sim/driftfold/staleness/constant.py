"""No discount."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.registry import register
from driftfold.staleness.base import Staleness


@register("constant")
@dataclass(frozen=True)
class Constant(Staleness):
    """Weight 1, however old. Source: Xie et al., FedAsync (2019), section 5.2.

    >>> Constant().weight(np.array([0, 3]))
    array([1., 1.])
    """

    def weight(self, s: Ints) -> Floats:
        """Return ones."""
        return np.ones(len(s))

    def formula(self) -> str:
        """Say so."""
        return "1"
