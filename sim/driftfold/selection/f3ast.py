"""F3AST: those who took part less often than their importance asks for."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.registry import register
from driftfold.selection.base import STREAM, Selection
from driftfold.trees import node


@node
class Rates:
    """Smoothed rate r_i at which each client was chosen, shape (N,)."""

    r: Floats


@register("f3ast")
@dataclass(frozen=True)
class F3ast(Selection[Rates]):
    """The k clients of the pool with the largest a_i^2 / r_i^2; ties at random.

    r_i is the smoothed rate at which client i was chosen, r <- (1 - beta) r + beta [chosen]. So the
    sum of a_i^2 / r_i, the variance of weights a_i / r_i, goes down as fast as it can. Every choice
    looks at everybody who is there.

    Source: Ribero, Vikalo, de Veciana: "Federated Learning under Intermittent Client Availability
    and Time-Varying Communication Constraints", 2022, Algorithm 1.

    Attributes
    ----------
    beta
        Weight of the present choice in the rate.
    rate
        Rate presumed of everybody at first.
    """

    beta: Annotated[float, Gt(0), Le(1)] = 0.01
    rate: Annotated[float, Gt(0), Le(1)] = 0.1

    def begin(self, fleet: Fleet) -> Rates:
        """Presume one rate of all."""
        return Rates(np.full(fleet.size, self.rate))

    def choose(
        self, state: Rates, fleet: Fleet, pool: Ints, k: int, dispatch: int
    ) -> tuple[Ints, Rates]:
        """Choose greedily, and count the choice."""
        chosen = pool
        if k < len(pool):
            gain = fleet.importance[pool] / np.maximum(state.r[pool], np.finfo(float).tiny)
            order = fleet.seed.stream(STREAM).uniform(pool, dispatch, 1)[:, 0]
            chosen = np.sort(pool[np.lexsort((order, -gain))[:k]])
        r = (1 - self.beta) * state.r
        r[chosen] += self.beta
        return chosen, Rates(r)
