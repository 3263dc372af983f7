"""Arbitrary participation: each client answers with a probability of its own."""

from dataclasses import dataclass

import numpy as np

from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.independent import IndependentResponses
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.registry import register


@register("bernoulli")
@dataclass(frozen=True)
class Bernoulli(Participation):
    """Client i answers each dispatch with probability p_i, independently of all others.

    Source: RFedAGS, arbitrary participation (the authors' "scheme II"), where p_i ~ U(0, 1).

    Attributes
    ----------
    p
        One probability for all clients, a list of one for each, or None to draw them.
    low, high
        Drawn probabilities are p_i ~ U(low, high), fixed by the seed and the client's id.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5, 5]), importance=np.full(3, 1 / 3))
    >>> attendance = Bernoulli(p=(1.0, 0.5, 0.0)).attend(fleet)
    >>> answers = [attendance.responds(np.arange(3), t).tolist() for t in range(100)]
    >>> all(first for first, _, _ in answers), any(last for _, _, last in answers)
    (True, False)
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0

    knows_probability = True

    @property
    def largest(self) -> float:
        """A bound on all p_i that needs no draws."""
        if self.p is None:
            return self.high
        return float(np.max(self.p, initial=0.0))

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the probabilities do not fit."""
        p = probabilities("bernoulli", self.p, self.low, self.high, fleet)
        return IndependentResponses(p, fleet.seed.stream("participation.responds"))
