"""Self-normalised weights: a weighted mean in place of a weighted sum."""

from dataclasses import dataclass
from typing import Any

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register


@register("hajek")
@dataclass(frozen=True)
class Hajek(Estimator[Any]):
    """Weights of another rule, divided by their sum over the responders.

    With weights a_i / p_i the sum of w_i v_i is unbiased, but its length swings with how many
    respond; the mean's does not. It is biased, and consistent as responders become many. Source:
    Hájek, in: Foundations of Statistical Inference (1971), discussion of Basu.

    Attributes
    ----------
    rule
        Estimator whose weights are normalised.

    >>> import numpy as np
    >>> from driftfold.estimators import Oracle
    >>> from driftfold.participation import Bernoulli
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Hajek(Oracle())
    >>> state = rule.begin(fleet, Bernoulli(p=(0.5, 0.125)).attend(fleet))
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=1)[0]
    array([0.2, 0.8])
    """

    rule: Estimator[Any]

    alone = False

    @property
    def needs_probability(self) -> bool:  # type: ignore[override]
        """Whether the normalised rule does."""
        return self.rule.needs_probability

    @property
    def counts_repeats(self) -> bool:  # type: ignore[override]
        """Whether the normalised rule does."""
        return self.rule.counts_repeats

    def begin(self, fleet: Fleet, attendance: Attendance) -> Any:
        """Return the state of the normalised rule."""
        return self.rule.begin(fleet, attendance)

    def foresee(self, state: Any, attendance: Attendance, clients: Ints, round: int) -> Any:
        """Pass on what can be told of the round."""
        return self.rule.foresee(state, attendance, clients, round)

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        """Return w_i / sum_j w_j; all 0 where the rule gives no weight to anybody."""
        weights, seen = self.rule.weigh(state, fleet, responders, round)
        return weights / (weights.sum() or 1.0), seen

    def skip(self, state: Any, round: int) -> Any:
        """Pass on that nobody contributed."""
        return self.rule.skip(state, round)
