"""Full participation."""

from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.registry import register


@final
class Everyone(Attendance):
    """Every client is on at all times and answers every dispatch."""

    def probability(self, clients: Ints) -> Floats:
        """Return 1 for each client."""
        return np.ones(len(clients))


@register("always")
@dataclass(frozen=True)
class Always(Participation):
    """Every client is on at all times and answers every dispatch: p_i = 1.

    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> Always().attend(fleet).responds(np.array([0, 1]), dispatch=7)
    array([ True,  True])
    """

    knows_probability = True

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance of `fleet`."""
        return Everyone()
