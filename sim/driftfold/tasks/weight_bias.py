"""How far the expected step is from that of full participation, told by the weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.errors import CapabilityError
from driftfold.estimators.base import Estimator
from driftfold.estimators.diagnostics import squared_bias
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, KnownProbability, KnownSchedule
from driftfold.registry import register
from driftfold.tasks.metric import WeightMetric


@register("weight_bias")
@dataclass(frozen=True)
class WeightBias(WeightMetric):
    """Expected squared bias of the next round's weights: sum over clients of (E[w_i] / a_i - 1)^2.

    E[w_i] is the mean weight of client i in round t, 0 where it is silent, given all rounds before:
    p_i times its weight where that does not depend on who else responds. Where it does ("none",
    "hajek", "shrunk") the mean is over `draws` cohorts of independent responses, and what their
    spread adds is taken off again, so that the figure is unbiased and may be below 0 by little.
    0 means that the expected step is that of full participation. Where probabilities change, round
    t is taken for dispatch t - 1, as it is where nobody is invited twice in a round.

    Attributes
    ----------
    draws
        Cohorts drawn for weights that depend on who else responds.

    >>> from driftfold.estimators import Inclusive
    >>> from driftfold.participation import Bernoulli
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> attendance, rule = Bernoulli(p=(0.5, 0.25)).attend(fleet), Inclusive()
    >>> state = rule.begin(fleet, attendance)
    >>> WeightBias().measure_weights(rule, state, fleet, attendance, round=1)
    {'weight_bias': 0.8125}
    """

    draws: Annotated[int, Ge(2)] = 256

    def measure_weights(
        self, rule: Estimator[Any], state: Any, fleet: Fleet, attendance: Attendance, round: int
    ) -> Mapping[str, float]:
        """Return it; raises `CapabilityError` where no probability is known."""
        p, everyone = _probability(attendance, fleet.size, round), np.arange(fleet.size)
        state = rule.foresee(state, attendance, everyone, round)
        if rule.alone:
            weights, _ = rule.weigh(state, fleet, everyone, round)
            return {"weight_bias": squared_bias(weights, fleet.importance, p)}
        stream, matter = fleet.seed.stream("weight_bias"), fleet.importance > 0
        total, squares = np.zeros(fleet.size), np.zeros(fleet.size)
        for draw in range(self.draws):
            members = np.flatnonzero(stream.uniform(everyone, draw, 1)[:, 0] < p)
            if len(members):
                weights, _ = rule.weigh(state, fleet, members, round)
                ratio = weights / np.where(matter, fleet.importance, 1.0)[members]
                total[members] += ratio
                squares[members] += ratio**2
        mean = total / self.draws
        spread = (squares / self.draws - mean**2) / (self.draws - 1)
        return {"weight_bias": float(((mean - 1) ** 2 - spread)[matter].sum())}


def _probability(attendance: Attendance, size: int, round: int) -> Floats:
    if isinstance(attendance, KnownProbability):
        return attendance.probability(np.arange(size))
    if isinstance(attendance, KnownSchedule):
        return attendance.probability_at(np.arange(size), round - 1)
    raise CapabilityError(
        "metric 'weight_bias' compares weights with the true probabilities, but this participation "
        "has none to tell; choose participation 'always', 'bernoulli', 'uniform' or 'sine', for "
        "example, or leave the metric out"
    )
