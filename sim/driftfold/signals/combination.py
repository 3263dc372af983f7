"""Combinations: how several signals of one client become one."""

from abc import ABC, abstractmethod

from driftfold.arrays import Floats
from driftfold.registry import family
from driftfold.signals.base import Observed


@family("signal_combination")
class SignalCombination(ABC):
    """Rule by which m signals in [0, 1] become one in [0, 1]: 0 where all are 0."""

    @abstractmethod
    def combine(self, values: Floats, observed: Observed) -> Floats:
        """One signal for each client, (k,), of its m signals (k, m), m >= 1."""
