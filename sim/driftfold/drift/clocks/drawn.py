"""Clocks that are drawn for each client."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.drift.clock import Clock, Readings
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register


@register("drawn")
@dataclass(frozen=True)
class Drawn(Clock):
    """Each client draws its start, phase and pace, fixed by the seed and the client's number.

    Attributes
    ----------
    start
        start_i ~ U(0, start), in steps.
    phase
        phase_i ~ U(0, phase), in steps of the schedule.
    pace
        pace_i = pace^u with u ~ U(-1, 1): from 1 / pace to `pace` times as fast.
    name
        Drifts whose clocks have the same name draw the same; empty: each draws its own.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> clocks = Drawn(start=30.0).readings(Timeline(4, steps=100, seconds=60.0, seed=Seed(1)))
    >>> clocks.start.round(1), clocks.pace
    (array([14.3, 28.1, 26.5, 14.8]), array([1., 1., 1., 1.]))
    """

    start: Annotated[float, Ge(0)] = 0.0
    phase: Annotated[float, Ge(0)] = 0.0
    pace: Annotated[float, Ge(1)] = 1.0
    name: str = ""

    def readings(self, timeline: Timeline) -> Readings:
        """Return the clocks."""
        u = timeline.stream("clock", self.name).uniform(np.arange(timeline.clients), 0, 3)
        pace = in_whole_vectors(np.exp, (2 * u[:, 2] - 1) * np.log(self.pace))
        return Readings(self.start * u[:, 0], pace, self.phase * u[:, 1])
