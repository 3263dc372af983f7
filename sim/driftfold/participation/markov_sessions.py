"""Availability by a Markov process of two states in continuous time."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.participation.rates import Rates
from driftfold.participation.resets import Resets
from driftfold.participation.superposed import two_states
from driftfold.registry import register


@register("markov_sessions")
@dataclass(frozen=True)
class MarkovSessions(Participation):
    """Sessions and gaps of exponential length, at rates of each client's own.

    Client i is on a share p_i of the time, in sessions of mean length m_i; it comes on at rate
    p_i / ((1 - p_i) m_i) and goes off at rate 1 / m_i, stationary from the start. It answers every
    dispatch.

    Attributes
    ----------
    p
        Share of the time: one for all clients, a list of one for each, or None to draw it.
    low, high
        Drawn shares are p_i ~ U(low, high), fixed by the seed and the client's id.
    session
        Median over clients of the mean session length m_i, in seconds.
    spread
        Standard deviation of ln m_i over clients.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(1000, 5), importance=np.full(1000, 0.001))
    >>> attendance = MarkovSessions(p=0.3).attend(fleet)
    >>> [round(float(attendance.available(np.arange(1000), t).mean()), 1) for t in (0.0, 1e6)]
    [0.3, 0.3]
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.05
    high: Probability = 0.95
    session: Annotated[float, Interval(ge=1e-3, le=1e9)] = 3600.0
    spread: Annotated[float, Interval(ge=0, le=5)] = 0.5

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the shares do not fit."""
        p = probabilities("markov_sessions", self.p, self.low, self.high, fleet)
        z = fleet.seed.stream("participation.session").normal(np.arange(fleet.size), 0, 1)[:, 0]
        mean = self.session * in_whole_vectors(np.exp, self.spread * z)
        # on + off = 1 / ((1 - p) m); who is always on needs candidates, but none that count.
        bound = 1 / (mean * np.where(p < 1, 1 - p, 1.0))
        return two_states(
            Resets(
                bound,
                Rates(p, 1 - p, np.zeros(fleet.size)),
                p,
                0,
                fleet.seed.stream("participation.switches"),
                fleet.seed.stream("participation.start"),
            ),
            fleet.seed,
        )
