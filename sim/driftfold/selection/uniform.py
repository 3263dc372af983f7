"""All clients alike."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Ints
from driftfold.fleet import Fleet
from driftfold.registry import register
from driftfold.selection.base import STREAM, Free, Selection
from driftfold.selection.candidates import accepted


@register("uniform")
@dataclass(frozen=True)
class UniformSelection(Selection[None]):
    """Every subset of the pool is equally likely. A pool that is too small is taken whole."""

    def begin(self, fleet: Fleet) -> None:
        """Remember nothing."""
        return

    def choose(
        self, state: None, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, None]:
        """Choose uniformly, without replacement."""
        if k >= len(pool):
            return pool, None
        stream = fleet.seed.stream(STREAM)
        chosen = stream.subsets(np.array([0]), dispatch, len(pool), k)[0]
        return np.sort(pool[chosen]), None

    def find(
        self, state: None, fleet: Fleet, free: Free, k: int, dispatch: int
    ) -> tuple[Ints, None]:
        """Choose among random candidates."""
        return accepted(fleet, free, k, dispatch), None
