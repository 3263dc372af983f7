"""Arbitrary participation: each client answers with a probability of its own."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.independent import IndependentResponses
from driftfold.registry import register

Probability: TypeAlias = Annotated[float, Interval(ge=0, le=1)]


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
        p = self._draw(fleet) if self.p is None else _given(self.p, fleet)
        return IndependentResponses(p, fleet.seed.stream("participation.responds"))

    def _draw(self, fleet: Fleet) -> Floats:
        if not 0 <= self.low <= self.high <= 1:
            raise SpecError(
                f"participation 'bernoulli' got low = {self.low}, high = {self.high}; p_i is drawn "
                "from U(low, high), so set 0 <= low <= high <= 1"
            )
        u: Floats = fleet.seed.stream("participation.p").uniform(np.arange(fleet.size), 0, 1)[:, 0]
        return self.low + (self.high - self.low) * u


def _given(p: float | tuple[float, ...], fleet: Fleet) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim and len(values) != fleet.size:
        raise SpecError(
            f"participation 'bernoulli' got {len(values)} probabilities p for {fleet.size} "
            "clients; give one number, or a list of one for each client"
        )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        raise SpecError(
            f"participation 'bernoulli' got p = {values.flat[bad[0]]} (entry {bad[0]}); "
            "probabilities lie between 0 and 1"
        )
    return np.broadcast_to(values, fleet.size).copy()
