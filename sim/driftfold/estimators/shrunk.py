"""Weights of another rule, drawn towards the plain mean."""

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register


@register("shrunk")
@dataclass(frozen=True)
class Shrunk(Estimator[Any]):
    """Weight rho w_i + (1 - rho) a_i / sum of a_j over the responders.

    The plain mean is biased and has little variance, inverse probabilities have it the other way
    round; a mixture of both can be nearer than either (James and Stein, 1961, shrink likewise).

    Attributes
    ----------
    rule
        Estimator whose weights are shrunk.
    share
        Share rho of its weights; 1 leaves them as they are, 0 is the plain mean.

    >>> import numpy as np
    >>> from driftfold.estimators import Oracle
    >>> from driftfold.participation import Bernoulli
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Shrunk(Oracle(), share=0.5)
    >>> state = rule.begin(fleet, Bernoulli(p=(0.5, 0.125)).attend(fleet))
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=1)[0]
    array([0.75, 2.25])
    """

    rule: Estimator[Any]
    share: Annotated[float, Ge(0), Le(1)] = 0.5

    alone = False

    @property
    def needs_probability(self) -> bool:  # type: ignore[override]
        """Whether the shrunk rule does."""
        return self.rule.needs_probability

    @property
    def counts_repeats(self) -> bool:  # type: ignore[override]
        """Whether the inner rule does."""
        return self.rule.counts_repeats

    def begin(self, fleet: Fleet, attendance: Attendance) -> Any:
        """Return the state of the shrunk rule."""
        return self.rule.begin(fleet, attendance)

    def foresee(self, state: Any, attendance: Attendance, clients: Ints, round: int) -> Any:
        """Pass on what can be told of the round."""
        return self.rule.foresee(state, attendance, clients, round)

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        """Return the mixture."""
        weights, seen = self.rule.weigh(state, fleet, responders, round)
        importance = fleet.importance[responders]
        plain = importance / (importance.sum() or 1.0)
        return self.share * weights + (1 - self.share) * plain, seen

    def skip(self, state: Any, round: int) -> Any:
        """Pass on that nobody contributed."""
        return self.rule.skip(state, round)
