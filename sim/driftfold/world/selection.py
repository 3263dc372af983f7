"""Selection: which of the available clients the server invites."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Ints
from driftfold.registry import family, register
from driftfold.rng import Stream


@family("selection")
class Selection(ABC):
    """Rule by which the server chooses."""

    @abstractmethod
    def choose(self, pool: Ints, k: int, dispatch: int, stream: Stream) -> Ints:
        """Choose min(k, len(pool)) clients of the pool (ascending ids), in ascending order."""


@register("uniform")
@dataclass(frozen=True)
class UniformSelection(Selection):
    """Every subset of the pool is equally likely. A pool that is too small is taken whole."""

    def choose(self, pool: Ints, k: int, dispatch: int, stream: Stream) -> Ints:
        """Choose uniformly, without replacement."""
        if k >= len(pool):
            return pool
        chosen = stream.subsets(np.array([0]), dispatch, len(pool), k)[0]
        return np.sort(pool[chosen])
