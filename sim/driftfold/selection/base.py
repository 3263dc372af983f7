"""Selection: which of the available clients the server invites.

A client on a visit is never available. What a rule remembers is a value: it goes in, and a new one
comes out; it is part of every snapshot.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from driftfold.arrays import Bools, Ints
from driftfold.fleet import Fleet
from driftfold.registry import family

S = TypeVar("S")
Free = Callable[[Ints], Bools]
"""Whether each of some clients is there now and not on a visit."""

STREAM = "selection"
"""Purpose of the draws."""


@family("selection")
class Selection(ABC, Generic[S]):
    """Rule by which the server chooses. Draws are addressed by the number of the dispatch."""

    @abstractmethod
    def begin(self, fleet: Fleet) -> S:
        """Return what the rule remembers before its first choice: a tree of arrays, or None."""

    @abstractmethod
    def choose(self, state: S, fleet: Fleet, pool: Ints, k: int, dispatch: int) -> tuple[Ints, S]:
        """Choose min(k, len(pool)) clients of the pool (ascending ids), in ascending order."""

    def find(self, state: S, fleet: Fleet, free: Free, k: int, dispatch: int) -> tuple[Ints, S]:
        """Choose up to k clients, in ascending order, without a list of all that are there.

        If they are fewer, `choose` chooses the others from the list of those that are left; all
        together have the distribution of `choose` on the whole list. Default: nobody.
        """
        return np.empty(0, np.int64), state
