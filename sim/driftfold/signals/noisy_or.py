"""Signals as independent reasons."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.registry import register
from driftfold.signals.base import Observed
from driftfold.signals.combination import SignalCombination


@register("noisy_or")
@dataclass(frozen=True)
class NoisyOr(SignalCombination):
    """1 - prod_i (1 - S_i): the probability that one of independent causes is there.

    >>> now = Observed(np.ones((1, 1, 2)) / 2, np.ones((1, 1, 3)), np.array([1]))
    >>> NoisyOr().combine(np.array([[0.5, 0.6]]), now)
    array([0.8])
    """

    def combine(self, values: Floats, observed: Observed) -> Floats:
        """Return the probability."""
        either: Floats = 1.0 - np.prod(1.0 - values, axis=-1)
        return either
