"""Clocks that follow how often a client is there."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.drift.clock import Clock, Readings
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.lanes import in_whole_vectors
from driftfold.participation.probabilities import DRAWN, Probability
from driftfold.registry import register


@register("by_presence")
@dataclass(frozen=True)
class ByPresence(Clock):
    """Who is rarely there drifts first and fastest (or last and slowest).

    p_i is the probability that a participation with the same `p`, `low` and `high` gives client i:
    the same draws, such as those of 'bernoulli', 'markov' and 'sine'. With r_i = p_i, or 1 - p_i
    where `rare_first` is false, start_i = start r_i and pace_i = pace^(1 - 2 r_i).

    Attributes
    ----------
    start
        Steps that the clock of a client with r_i = 1 stands still at first.
    pace
        Steps of the schedule that pass in one of the stream for a client with r_i = 0.
    rare_first
        Whether who is rarely there drifts first.
    p
        Probability of each client, or None where they are drawn.
    low, high
        Drawn probabilities are p_i ~ U(low, high), fixed by the seed and the client's id.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=2, steps=100, seconds=60.0, seed=Seed(1))
    >>> clocks = ByPresence(start=20, pace=4, p=(0.0, 0.75)).readings(timeline)
    >>> clocks.start, clocks.pace
    (array([ 0., 15.]), array([4. , 0.5]))
    """

    start: Annotated[float, Ge(0)] = 0.0
    pace: Annotated[float, Ge(1)] = 1.0
    rare_first: bool = True
    p: tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0

    def readings(self, timeline: Timeline) -> Readings:
        """Return the clocks; raises `SpecError` when the probabilities do not fit."""
        everyone = np.arange(timeline.clients)
        if self.p is None:
            u = timeline.seed.stream(DRAWN).uniform(everyone, 0, 1)[:, 0]
            p = self.low + (self.high - self.low) * u
        else:
            p = np.array(self.p, np.float64)
        if len(p) != timeline.clients or self.low > self.high:
            raise SpecError(
                f"clock 'by_presence' got {len(p)} probabilities for {timeline.clients} clients, "
                f"low = {self.low} and high = {self.high}; give one p for each client, or "
                "low <= high"
            )
        share = p if self.rare_first else 1 - p
        pace = in_whole_vectors(np.exp, (1 - 2 * share) * np.log(self.pace))
        return Readings(self.start * share, pace, np.zeros(timeline.clients))
