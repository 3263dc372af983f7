"""Signals weighed by how much they say."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed
from driftfold.signals.combination import SignalCombination


@register("excess")
@dataclass(frozen=True)
class Excess(SignalCombination):
    """Mean of signals with weights in proportion to them: sum_i S_i^2 / sum_i S_i.

    Of `calibrated` signals: then each is its own excess over what it says without drift, and one
    that sees nothing has no say. Between their mean and their maximum.

    >>> now = Observed(np.ones((2, 1, 2)) / 2, np.ones((2, 1, 3)), np.array([1, 1]))
    >>> Excess().combine(np.array([[0.5, 0.0], [0.2, 0.6]]), now)
    array([0.5, 0.5])
    """

    def combine(self, values: Floats, observed: Observed) -> Floats:
        """Return the mean; 0 where all signals are."""
        total = values.sum(axis=-1)
        none = total == 0
        mean = (values * values).sum(axis=-1) / np.where(none, 1.0, total)
        return np.where(none, 0.0, mean)
