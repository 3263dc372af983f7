"""FedAU: the mean interval between a client's responses, which is 1 / p_i without dividing.

Wang, S., Ji, M.: "A lightweight method for tackling unknown participation statistics in federated
averaging", ICLR 2024, Algorithm 2.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.estimators.base import Estimator
from driftfold.estimators.tables import never
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register
from driftfold.trees import node


@node
class Intervals:
    """Of each client, shape (N,): intervals that have ended by its last response, and its round.

    All intervals together are as long as the time until then, so their mean needs no sum.
    """

    ended: Column[np.int64]
    last: Column[np.int64]


@register("fedau")
@dataclass(frozen=True)
class FedAU(Estimator[Intervals]):
    """Weight a_i times the mean interval, in rounds, between responses before round t.

    Intervals of independent responses are geometric with mean 1 / p_i. One that becomes `cutoff`
    rounds long ends there, response or not: so no weight is above cutoff a_i, and clients with
    p_i below about 1 / cutoff weigh less than 1 / p_i. A client without an interval weighs a_i.
    Silent rounds are counted when the client responds, so a round's work is the responders'.

    Attributes
    ----------
    cutoff
        Longest interval C in rounds; the paper's 50. "none" sets no limit.

    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = FedAU()
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([1]), round=3)
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=4)[0]
    array([0.5, 1.5])
    """

    cutoff: Annotated[int, Interval(ge=1, le=2**32)] | Literal["none"] = 50

    def begin(self, fleet: Fleet, attendance: Attendance) -> Intervals:
        """No interval has ended."""
        return Intervals(never(fleet.size), never(fleet.size))

    def weigh(
        self, state: Intervals, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Intervals]:
        """Return a_i times the mean interval before `round`, and the intervals with this one."""
        last = state.last[responders]
        cutoff = round if self.cutoff == "none" else self.cutoff  # no interval is so long
        cut = (round - 1 - last) // cutoff
        ended = state.ended[responders] + cut
        length = last + cut * cutoff
        mean = np.where(ended > 0, length / np.maximum(ended, 1), 1.0)
        seen = Intervals(
            replaced(state.ended, responders, ended + 1), replaced(state.last, responders, round)
        )
        return fleet.importance[responders] * mean, seen
