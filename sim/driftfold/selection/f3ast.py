"""F3AST: those who took part less often than their importance asks for."""

from dataclasses import dataclass
from math import log, log1p
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, Lt

from driftfold.arrays import Bools, Floats, Ints
from driftfold.columns import Column, replaced
from driftfold.fleet import Fleet
from driftfold.registry import register
from driftfold.selection.base import STREAM, Free, Selection
from driftfold.selection.candidates import MOST, accepted
from driftfold.trees import node


@node
class Scores:
    """Score s_i = log(a_i / r_i) + t log(1 - beta) of each client, shape (N,), after t choices.

    So a rate that shrinks leaves its client's score as it is. `never` of the most important clients
    were never chosen: those of the largest score, `top`.
    """

    score: Column[np.float64]
    choices: int
    top: float
    never: int


@register("f3ast")
@dataclass(frozen=True)
class F3ast(Selection[Scores]):
    """The k clients of the pool with the largest a_i^2 / r_i^2; ties at random.

    r_i is the smoothed rate at which client i was chosen, r <- (1 - beta) r + beta [chosen]. So the
    sum of a_i^2 / r_i, the variance of weights a_i / r_i, goes down as fast as it can. While many
    of the most important clients were never chosen, choosing a few of them looks at few; later at
    everybody who is there.

    Source: Ribero, Vikalo, de Veciana: "Federated Learning under Intermittent Client Availability
    and Time-Varying Communication Constraints", 2022, Algorithm 1.

    Attributes
    ----------
    beta
        Weight of the present choice in the rate.
    rate
        Rate presumed of everybody at first.
    """

    beta: Annotated[float, Gt(0), Lt(1)] = 0.01
    rate: Annotated[float, Gt(0), Le(1)] = 0.1

    def begin(self, fleet: Fleet) -> Scores:
        """Presume one rate of all."""
        score = _logs(fleet.importance) - log(self.rate)
        top = float(score.max())
        return Scores(Column(score), 0, top, int(np.count_nonzero(score == top)))

    def choose(
        self, state: Scores, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, Scores]:
        """Choose greedily, and count the choice."""
        chosen = pool
        if k < len(pool):
            order = fleet.seed.stream(STREAM).uniform(pool, dispatch, 1)[:, 0]
            chosen = np.sort(pool[np.lexsort((order, -state.score[pool]))[:k]])
        return chosen, self._after(state, fleet, chosen)

    def find(
        self, state: Scores, fleet: Fleet, free: Free, k: int, dispatch: int
    ) -> tuple[Ints, Scores]:
        """Choose among random candidates of the largest score; nobody if those are few."""

        def first(clients: Ints) -> Bools:
            tied: Bools = state.score[clients] == state.top
            tied[tied] = free(clients[tied])
            return tied

        chosen = np.empty(0, np.int64)
        if state.never * MOST >= fleet.size:
            chosen = accepted(fleet, first, k, dispatch)
        if len(chosen) < k:  # or one choice would be counted twice
            return chosen[:0], state
        return chosen, self._after(state, fleet, chosen)

    def _after(self, state: Scores, fleet: Fleet, chosen: Ints) -> Scores:
        """Count a choice: the rates of `chosen` grow, and those of all others shrink."""
        shrinks = (state.choices + 1) * log1p(-self.beta)
        before, weight = state.score[chosen], _logs(fleet.importance[chosen])
        held = np.isfinite(weight)  # whose importance is 0 is at the end, whatever its rate
        rate = np.exp(weight[held] - before[held] + shrinks) + self.beta
        score = before.copy()
        score[held] = weight[held] - np.log(rate) + shrinks
        return Scores(
            replaced(state.score, chosen, score),
            state.choices + 1,
            state.top,
            state.never - int(np.count_nonzero(before == state.top)),
        )


def _logs(importance: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(importance)
