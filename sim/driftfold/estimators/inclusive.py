"""Frequencies that already count the present round."""

from dataclasses import dataclass

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.estimators.counts import Counts, no_counts
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register


@register("inclusive")
@dataclass(frozen=True)
class Inclusive(Estimator[Counts]):
    """Weight a_i t / (c_i + 1), c_i the responses before round t: never divides by zero.

    Counting the present response makes it depend on who responds: a client's mean weight is
    a_i (1 - (1 - p_i)^t), low at first, and the lack vanishes geometrically. A client first seen
    in a late round t weighs t a_i once. Source: the code released with RFedAGS.

    >>> import numpy as np
    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Inclusive()
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=1)
    >>> weights, state = rule.weigh(state, fleet, np.array([0, 1]), round=2)
    >>> weights
    array([0.5, 1. ])
    """

    counts_repeats = True

    def begin(self, fleet: Fleet, attendance: Attendance) -> Counts:
        """Return zero counts."""
        return no_counts(fleet.size)

    def weigh(
        self, state: Counts, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Counts]:
        """Return a_i t / c_i with this round's responses counted, and those counts."""
        seen = state.counting(responders)
        return fleet.importance[responders] * round / seen.responses[responders], seen
