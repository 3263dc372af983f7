"""Participation that depends on how much data a client has."""

from dataclasses import dataclass

import numpy as np

from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.independent import IndependentResponses
from driftfold.participation.probabilities import Probability
from driftfold.registry import register


@register("size_bernoulli")
@dataclass(frozen=True)
class SizeBernoulli(Participation):
    """Independent answers that depend on numbers of samples: p_i = high n_i^b / max_j n_j^b.

    With b > 0 who has more data answers more often, with b < 0 who has less. Source: the modes
    "more data first" and "less data first" of FLGo (Wang et al., 2023); b = -1 is "uneven" of
    Ribero, Vikalo and de Veciana (F3AST, 2022).

    Attributes
    ----------
    power
        The exponent b.
    high
        Probability of the client that answers most often.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([10, 40]), importance=np.full(2, 0.5))
    >>> SizeBernoulli(power=-0.5, high=0.8).attend(fleet).probability(np.arange(2)).round(12)
    array([0.8, 0.4])
    """

    power: float = 0.5
    high: Probability = 1.0

    knows_probability = True

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; clients without samples count as having one."""
        logs = self.power * in_whole_vectors(np.log, np.maximum(fleet.samples, 1.0))
        p = self.high * in_whole_vectors(np.exp, logs - logs.max())
        return IndependentResponses(p, fleet.seed.stream("participation.responds"))
