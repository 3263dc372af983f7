"""One after the other."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Ints
from driftfold.fleet import Fleet
from driftfold.registry import register
from driftfold.selection.base import Free, Selection
from driftfold.trees import node

BLOCK = 64
"""Clients looked at at a time, at least."""


@node
class Turn:
    """Whose turn it is: a client's id, shape ()."""

    next: Ints


@register("round_robin")
@dataclass(frozen=True)
class RoundRobin(Selection[Turn]):
    """Clients take turns in order of their ids; one that is not there misses its turn."""

    def begin(self, fleet: Fleet) -> Turn:
        """Begin with client 0."""
        return Turn(np.array(0))

    def choose(
        self, state: Turn, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, Turn]:
        """Choose the next k of the pool."""
        first = int(np.searchsorted(pool, int(state.next)))
        turns = np.roll(pool, -first)[:k]
        return np.sort(turns), _after(turns, state, fleet)

    def find(
        self, state: Turn, fleet: Fleet, free: Free, k: int, dispatch: int
    ) -> tuple[Ints, Turn]:
        """Look on from whose turn it is, not round more than an eighth of the fleet."""
        turns, start = np.empty(0, np.int64), int(state.next)
        block, looked = max(BLOCK, 2 * k), 0
        while looked + block <= max(fleet.size // 8, BLOCK) and looked + block <= fleet.size:
            ids = (start + looked + np.arange(block)) % fleet.size
            turns = np.concatenate([turns, ids[free(ids)]])
            if len(turns) >= k:
                turns = turns[:k]
                return np.sort(turns), _after(turns, state, fleet)
            looked += block
            block *= 2
        return turns[:0], state


def _after(turns: Ints, state: Turn, fleet: Fleet) -> Turn:
    return Turn(np.array((int(turns[-1]) + 1) % fleet.size)) if len(turns) else state
