"""Independent responses with fixed probabilities: what the Bernoulli kinds share."""

from dataclasses import dataclass
from typing import final

from driftfold.arrays import Bools, Floats, Ints
from driftfold.participation.base import Attendance
from driftfold.rng import Stream


@final
@dataclass(frozen=True, eq=False)
class IndependentResponses(Attendance):
    """Client i answers each dispatch with probability p_i, independently of all others.

    Attributes
    ----------
    p
        Probabilities, shape (N,).
    draws
        Stream of the responses, addressed by client and dispatch.
    """

    p: Floats
    draws: Stream

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client would answer this dispatch, shape (k,)."""
        # Draws are below 1, so p = 1 always answers and p = 0 never does.
        answers: Bools = self.draws.uniform(clients, dispatch, 1)[:, 0] < self.p[clients]
        return answers

    def probability(self, clients: Ints) -> Floats:
        """Return p_i of each client, shape (k,)."""
        return self.p[clients]
