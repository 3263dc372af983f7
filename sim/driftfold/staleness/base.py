"""Staleness: how much an answer counts that was computed from an older model."""

from abc import ABC, abstractmethod

from driftfold.arrays import Floats, Ints
from driftfold.registry import family


@family("staleness")
class Staleness(ABC):
    """Weight of an answer by its staleness s: server steps since its model was downloaded."""

    @abstractmethod
    def weight(self, s: Ints) -> Floats:
        """Weights at s = 0, 1, 2, ..., shape (k,), from 0 to 1; 1 at s = 0."""

    @abstractmethod
    def formula(self) -> str:
        """How the weight is computed, for the result."""
