"""The discounted Beta posterior of a probability that may change.

West, M., Harrison, J.: Bayesian Forecasting and Dynamic Models (1997), section 6.3 on discounts;
Raj, V., Kalyani, S.: "Taming non-stationary bandits", 2017, for Beta posteriors.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Le

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.estimators.base import Estimator
from driftfold.estimators.tables import never, power
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register
from driftfold.trees import node


@node
class Posterior:
    """Of each client, shape (N,): Beta(a, b) just after its last response, and that round."""

    a: Column[np.float64]
    b: Column[np.float64]
    last: Column[np.int64]


@register("beta")
@dataclass(frozen=True)
class Beta(Estimator[Posterior]):
    """Weight a_i times an estimate of 1 / p_i under a Beta(a, b) posterior before round t.

    In each round a <- gamma a + 1{i responds} and b <- gamma b + 1{i is silent}: about the last
    1 / (1 - gamma) rounds count. Silent rounds are counted when the client responds, so a round's
    work is the responders'.

    Attributes
    ----------
    gamma
        Share of what was known that is kept from round to round; 1 forgets nothing.
    prior
        a and b before the first round.
    of
        What is estimated. "probability": the weight is 1 / E[p_i] = (a + b) / a. "inverse": it is
        E[1 / p_i] = (a + b - 1) / (a - 1), what the step needs, but infinite where a <= 1.
    smallest
        Smallest probability that is believed: no weight is above a_i / smallest.

    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Beta(gamma=1.0)
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=1)
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=2)[0]
    array([0.75, 1.5 ])
    """

    gamma: Annotated[float, Gt(0), Le(1)] = 0.98
    prior: Annotated[float, Gt(0)] = 1.0
    of: Literal["probability", "inverse"] = "probability"
    smallest: Annotated[float, Gt(0), Le(1)] = 0.01

    def begin(self, fleet: Fleet, attendance: Attendance) -> Posterior:
        """Return the prior."""
        prior = np.full(fleet.size, float(self.prior))
        return Posterior(Column(prior), Column(prior.copy()), never(fleet.size))

    def weigh(
        self, state: Posterior, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Posterior]:
        """Return a_i times the estimate before `round`, and the posterior after it."""
        gamma, silent = self.gamma, round - 1 - state.last[responders]
        left = power(gamma, silent)
        a = state.a[responders] * left
        misses = (1 - left) / (1 - gamma) if gamma < 1 else silent  # 1 + gamma + gamma^2 + ...
        b = state.b[responders] * left + misses
        seen = Posterior(
            replaced(state.a, responders, gamma * a + 1),
            replaced(state.b, responders, gamma * b),
            replaced(state.last, responders, round),
        )
        p = (a - 1) / (a + b - 1) if self.of == "inverse" else a / (a + b)
        if self.of == "inverse":
            p[a <= 1] = 0.0
        return fleet.importance[responders] / np.maximum(p, self.smallest), seen
