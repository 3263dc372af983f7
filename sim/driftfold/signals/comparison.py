"""What signals have in common that compare this batch's mean with the last one's."""

from abc import abstractmethod

import numpy as np

from driftfold.arrays import Floats
from driftfold.signals.base import Observed, Signal


class Comparison(Signal[Floats]):
    """Distance of two summaries, one a batch. The memory is the last summary, shape (k, m)."""

    @abstractmethod
    def summary(self, observed: Observed) -> Floats:
        """What is remembered of each batch, shape (k, m)."""

    @abstractmethod
    def distance(self, before: Floats, now: Floats) -> Floats:
        """How far two summaries are apart, shape (k,), up to rounding from 0 to 1."""

    def compare(self, memory: Floats, observed: Observed) -> tuple[Floats, Floats]:
        """Return the distance from the last summary, and this one."""
        now = self.summary(observed)
        moved = np.where(observed.seen, self.distance(memory, now), 0.0)
        return np.clip(moved, 0.0, 1.0), now

    def replace(self, memory: Floats, observed: Observed) -> Floats:
        """Return the summary."""
        return self.summary(observed)
