"""Frequencies of the rounds before: independent of who responds now."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.estimators.counts import Counts, no_counts
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register


@register("past")
@dataclass(frozen=True)
class Past(Estimator[Counts]):
    """Weight a_i / q_i with q_i = c_i / (t - 1), c_i the responses in rounds 1 .. t-1.

    The rule says nothing about a client seen for the first time (c_i = 0); `unseen` does. Source:
    RFedAGS, AGS-AP with frequencies. With `prior` b > 0 it is the posterior mean under a
    Beta(b, b) prior, q_i = (c_i + b) / (t - 1 + 2 b).

    Attributes
    ----------
    prior
        Pseudo-count b of responses and of silences; 0 is the published rule.
    unseen
        Weight at c_i = 0. "prior": as under a Beta(1, 1) prior (or the `prior` given), q_i =
        1 / (t + 1). "zero": none, the first response is only counted.
    max_weight
        Largest 1 / q_i, or None for no limit. A cap trades bias for variance.

    Examples
    --------
    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Past()
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=1)
    >>> weights, state = rule.weigh(state, fleet, np.array([0, 1]), round=2)
    >>> weights
    array([0.5, 1.5])
    """

    prior: Annotated[float, Ge(0)] = 0.0
    unseen: Literal["prior", "zero"] = "prior"
    max_weight: Annotated[float, Gt(0)] | None = None

    counts_repeats = True

    def begin(self, fleet: Fleet, attendance: Attendance) -> Counts:
        """Return zero counts."""
        return no_counts(fleet.size)

    def weigh(
        self, state: Counts, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Counts]:
        """Return a_i / q_i from the rounds before `round`, and the counts with this one."""
        count = state.responses[responders]
        new = count == 0
        pseudo = np.where(new, self.prior or 1.0, self.prior)
        inverse = (round - 1 + 2 * pseudo) / (count + pseudo)
        if self.max_weight is not None:
            inverse = np.minimum(inverse, self.max_weight)
        if self.unseen == "zero":
            inverse = np.where(new, 0.0, inverse)
        return fleet.importance[responders] * inverse, state.counting(responders)
