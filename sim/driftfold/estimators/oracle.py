"""True probabilities: the unbiased weights, where they are known."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.errors import CapabilityError
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, KnownProbability, KnownSchedule
from driftfold.registry import register
from driftfold.trees import node


@node
class Probabilities:
    """True probability p_i that each client contributes, when it was last told, shape (N,)."""

    p: Column[np.float64]


@register("oracle")
@dataclass(frozen=True)
class Oracle(Estimator[Probabilities]):
    """Weight a_i / p_i(t) with the true p_i(t): the expected step is that of full participation.

    Where the probabilities change with time, round t is dispatch t - 1, as it is where nobody is
    invited twice in a round. Who cannot respond in a round, p_i(t) = 0, has no part in its expected
    step. Source: RFedAGS, AGS-AP with known probabilities; Horvitz and Thompson (1952).

    >>> from driftfold.participation import Bernoulli
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Oracle()
    >>> state = rule.begin(fleet, Bernoulli(p=(0.5, 0.1)).attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0, 1]), round=1)
    >>> weights
    array([1., 5.])
    """

    needs_probability = True

    def begin(self, fleet: Fleet, attendance: Attendance) -> Probabilities:
        """Read the probabilities; raises `CapabilityError` when unknown, or zero for good."""
        everyone = np.arange(fleet.size)
        if isinstance(attendance, KnownSchedule):
            return Probabilities(Column(attendance.probability_at(everyone, 0)))
        if not isinstance(attendance, KnownProbability):
            raise CapabilityError(
                "estimator 'oracle' needs the true probabilities, but this participation has none "
                "to tell; choose a participation in dispatches, such as 'bernoulli', 'uniform', "
                "'markov' or 'sine' without a slot, or estimator 'past' or 'inclusive'"
            )
        p = attendance.probability(everyone)
        never = np.flatnonzero((p <= 0) & (fleet.importance > 0))
        if never.size:
            raise CapabilityError(
                f"estimator 'oracle' divides by p_i, but p = {p[never[0]]:g} for client "
                f"{never[0]} ({never.size} such of {fleet.size}): its part of the objective "
                "cannot be reached; give every client a positive probability, or use estimator "
                "'none'"
            )
        return Probabilities(Column(p))

    def foresee(
        self, state: Probabilities, attendance: Attendance, clients: Ints, round: int
    ) -> Probabilities:
        """Take the probabilities of this round, where they change."""
        if not isinstance(attendance, KnownSchedule):
            return state
        p = attendance.probability_at(clients, round - 1)
        return Probabilities(replaced(state.p, clients, p))

    def weigh(
        self, state: Probabilities, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Probabilities]:
        """Return a_i / p_i; 0 for a client that cannot have responded."""
        p = state.p[responders]
        weights = fleet.importance[responders] / np.where(p > 0, p, np.inf)
        return weights, state
