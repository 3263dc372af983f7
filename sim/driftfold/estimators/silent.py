"""Clients that have gone: they no longer count in the objective, and it is said so."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.estimators.base import Estimator
from driftfold.estimators.tables import never
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import register
from driftfold.trees import node


@node
class Heard:
    """State of the inner rule, and the round of each client's last response, shape (N,)."""

    rule: Any
    last: Column[np.int64]


@register("silent")
@dataclass(frozen=True)
class Silent(Estimator[Any]):
    """Weights of another rule for the objective without the clients silent for `rounds` rounds.

    The objective changes: in round t it is F_t = sum of a_i f_i over the clients A_t that responded
    in one of the D rounds before, divided by the sum of their a_i. So weights of clients in A_t are
    those of the rule over that sum, and one that comes back weighs nothing in that round: it is
    only heard, and belongs to F_t from the next one on. Its first weight is then no spike of the
    length of its absence. Until round D everybody belongs. A round costs one pass over all clients.

    Attributes
    ----------
    rule
        Estimator of the weights.
    rounds
        Rounds D of silence after which a client is left out of F.

    >>> from driftfold.estimators import Oracle
    >>> from driftfold.participation import Bernoulli
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> rule = Silent(Oracle(), rounds=2)
    >>> state = rule.begin(fleet, Bernoulli(p=(0.5, 0.125)).attend(fleet))
    >>> weights, state = rule.weigh(state, fleet, np.array([0]), round=2)
    >>> rule.weigh(state, fleet, np.array([0, 1]), round=4)[0]
    array([2., 0.])
    """

    rule: Estimator[Any]
    rounds: Annotated[int, Ge(1)]

    @property
    def needs_probability(self) -> bool:  # type: ignore[override]
        """Whether the inner rule does."""
        return self.rule.needs_probability

    @property
    def counts_repeats(self) -> bool:  # type: ignore[override]
        """Whether the inner rule does."""
        return self.rule.counts_repeats

    @property
    def alone(self) -> bool:  # type: ignore[override]
        """Whether it is so of the inner rule."""
        return self.rule.alone

    def begin(self, fleet: Fleet, attendance: Attendance) -> Heard:
        """Everybody counts as heard just before the first round."""
        return Heard(self.rule.begin(fleet, attendance), never(fleet.size))

    def foresee(self, state: Heard, attendance: Attendance, clients: Ints, round: int) -> Heard:
        """Pass on what can be told of the round."""
        return Heard(self.rule.foresee(state.rule, attendance, clients, round), state.last)

    def weigh(
        self, state: Heard, fleet: Fleet, responders: Ints, round: int
    ) -> tuple[Floats, Heard]:
        """Return the weights for F_t, and who has been heard."""
        weights, seen = self.rule.weigh(state.rule, fleet, responders, round)
        belongs = np.asarray(state.last) >= round - self.rounds
        share = float(fleet.importance @ belongs) or 1.0
        weights = np.where(belongs[responders], weights / share, 0.0)
        return weights, Heard(seen, replaced(state.last, responders, round))

    def skip(self, state: Heard, round: int) -> Heard:
        """Pass on that nobody contributed."""
        return Heard(self.rule.skip(state.rule, round), state.last)
