"""Exponentially weighted frequencies: a memory of about 1 / beta rounds.

Ribero, M., Vikalo, H., de Veciana, G.: "Federated learning under intermittent client availability
and time-varying communication constraints" (F3AST), 2022, the rates r_k of Algorithm 1. Its greedy
choice of clients is a matter of selection, not of weights.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.estimators.base import Estimator
from driftfold.estimators.tables import never, power
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register
from driftfold.trees import node


@node
class Rates:
    """Of each client, shape (N,): its rate r_i just after its last response, and that round."""

    rate: Column[np.float64]
    last: Column[np.int64]


@register("ewma")
@dataclass(frozen=True)
class Ewma(Estimator[Rates]):
    """Weight a_i / max(r_i, smallest), r <- (1 - beta) r + beta 1{i responds}, before round t.

    It follows probabilities that change, with a lag of about 1 / beta rounds and a variance of
    p (1 - p) beta / (2 - beta). A rate shrinks when its client responds again, by all silent rounds
    at once, so a round's work is the responders'.

    Attributes
    ----------
    beta
        Share of the newest round.
    start
        Rate before the first round. With 0 it is debiased, r / (1 - (1 - beta)^(t-1)), as the
        moments of Adam are; in round 1, where nothing is known, clients then weigh a_i.
    smallest
        Smallest rate that is believed: no weight is above a_i / smallest.

    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Ewma(beta=0.5)
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=1)
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=2)[0].round(3)
    array([0.667, 2.   ])
    """

    beta: Annotated[float, Gt(0), Lt(1)] = 0.01
    start: Annotated[float, Ge(0), Le(1)] = 0.5
    smallest: Annotated[float, Gt(0), Le(1)] = 0.01

    def begin(self, fleet: Fleet, attendance: Attendance) -> Rates:
        """All rates are `start`."""
        return Rates(Column(np.full(fleet.size, float(self.start))), never(fleet.size))

    def weigh(
        self, state: Rates, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Rates]:
        """Return a_i over the rate before `round`, and the rates with this one."""
        kept, importance = 1 - self.beta, fleet.importance[responders]
        rate = state.rate[responders] * power(kept, round - 1 - state.last[responders])
        seen = Rates(
            replaced(state.rate, responders, kept * rate + self.beta),
            replaced(state.last, responders, round),
        )
        if self.start == 0:
            if round == 1:
                return importance.copy(), seen
            rate = rate / (1 - kept ** (round - 1))
        return importance / np.maximum(rate, self.smallest), seen
