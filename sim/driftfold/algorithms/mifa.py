"""MIFA: the mean of what every client last sent, however long ago.

Gu, X., Huang, K., Zhang, J., Huang, L.: "Fast federated learning in the presence of arbitrary
device unavailability", NeurIPS 2021, Algorithm 1. With y_j what client j last sent,

    y_i <- zeta_i for i in S_t,    v = sum_j a_j y_j.

No probability is needed, and none is estimated: weights of an estimator do not enter. The price is
that vectors are old; it works where silences are bounded, stationary or not. A round in which
nobody responds is skipped, as always.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from driftfold.algorithms.base import Phase
from driftfold.algorithms.server_memory import FromMemory, Remembering, ServerMemory
from driftfold.arrays import Array, Floats, Ints
from driftfold.registry import register
from driftfold.tasks.base import Problem


@register("mifa")
@dataclass(frozen=True)
class MIFA(ServerMemory):
    """An algorithm whose server steps along the mean of all that it remembers.

    Attributes
    ----------
    algorithm
        The inner algorithm, which says what clients send and how the server steps along a vector.
    start
        What is done until every client has responded once. "zero": clients not seen yet count as
        having sent 0, so first steps are short. "wait": the server stays where it is, as published.
    """

    start: Literal["zero", "wait"] = "zero"

    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> FromMemory:
        """Return the phase whose server remembers."""
        return MeanOfMemory(phase, number, problem, self)


@dataclass(frozen=True)
class MeanOfMemory(FromMemory):
    """One exchange of MIFA."""

    rule: MIFA

    def direct(
        self, state: Remembering, clients: Ints, weights: Floats, vectors: Array
    ) -> tuple[Array, Remembering]:
        """Take v = sum_j a_j y_j, with the responders' vectors in it."""
        learnt, importance = state.learning(clients, vectors), self.problem.fleet.importance
        v = learnt.mean(importance)
        if self.rule.start == "wait" and np.delete(importance, learnt.clients).any():
            v = np.zeros_like(v)
        return v, learnt
