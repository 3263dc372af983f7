"""The largest of signals."""

from dataclasses import dataclass

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed
from driftfold.signals.combination import SignalCombination


@register("max")
@dataclass(frozen=True)
class Largest(SignalCombination):
    """max_i S_i: drift of either kind counts in full.

    >>> import numpy as np
    >>> now = Observed(np.ones((1, 1, 2)) / 2, np.ones((1, 1, 3)), np.array([1]))
    >>> Largest().combine(np.array([[0.2, 0.6]]), now)
    array([0.6])
    """

    def combine(self, values: Floats, observed: Observed) -> Floats:
        """Return the largest."""
        largest: Floats = values.max(axis=-1)
        return largest
