"""A bound on what one contribution can weigh."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register


@register("capped")
@dataclass(frozen=True)
class Capped(Estimator[Any]):
    """Weights of another rule, none above `max_weight` times the client's importance a_i.

    Rare clients pull less than their share (bias) so that no one moves the model far (variance);
    and what one client can change is bounded, as noise for privacy needs it. Capping inverse
    probabilities is common in causal inference; Ionides: "Truncated importance sampling", 2008.

    Attributes
    ----------
    rule
        Estimator whose weights are capped.
    max_weight
        Largest w_i / a_i, the multiple of a plain step. Rules that estimate 1 / p_i are unchanged
        where it is at least 1 / p_i.

    >>> from driftfold.estimators import Inclusive
    >>> from driftfold.participation import Always
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Capped(Inclusive(), max_weight=3.0)
    >>> state = rule.begin(fleet, Always().attend(fleet))
    >>> rule.weigh(state, fleet, np.array([1]), round=10)[0]
    array([1.5])
    """

    rule: Estimator[Any]
    max_weight: Annotated[float, Gt(0)]

    @property
    def needs_probability(self) -> bool:  # type: ignore[override]
        """Whether the capped rule does."""
        return self.rule.needs_probability

    @property
    def alone(self) -> bool:  # type: ignore[override]
        """Whether it is so of the capped rule."""
        return self.rule.alone

    @property
    def counts_repeats(self) -> bool:  # type: ignore[override]
        """Whether the capped rule does."""
        return self.rule.counts_repeats

    def begin(self, fleet: Fleet, attendance: Attendance) -> Any:
        """Return the state of the capped rule."""
        return self.rule.begin(fleet, attendance)

    def foresee(self, state: Any, attendance: Attendance, clients: Ints, round: int) -> Any:
        """Pass on what can be told of the round."""
        return self.rule.foresee(state, attendance, clients, round)

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        """Return min(w_i, max_weight a_i)."""
        weights, seen = self.rule.weigh(state, fleet, responders, round)
        return np.minimum(weights, self.max_weight * fleet.importance[responders]), seen

    def skip(self, state: Any, round: int) -> Any:
        """Pass on that nobody contributed."""
        return self.rule.skip(state, round)
