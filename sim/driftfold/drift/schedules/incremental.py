"""Drift by a staircase of small jumps."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.schedules.ends import ends
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("incremental")
@dataclass(frozen=True)
class Incremental(Schedule):
    """w goes from 0 to 1 by equal jumps at equal intervals, the last one at step `end`.

    With n jumps, w_t = floor(n (t - start) / (end - start)) / n between the two.

    Attributes
    ----------
    jumps
        Number n of jumps.
    start
        Step from which intervals are counted.
    end
        First step at which w is 1; None: the last step T-1.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> path = Incremental(jumps=4, start=20, end=60).path(timeline)
    >>> path.changes(0), path.weight(np.zeros(2, int), np.array([29, 30]))
    (array([30, 40, 50, 60]), array([0.  , 0.25]))
    """

    jumps: Annotated[int, Ge(1)] = 10
    start: float = 0.0
    end: float | None = None

    def path(self, timeline: Timeline) -> Path:
        """Return the path; raises `SpecError` when it ends before it starts."""
        start, end = ends("incremental", self.start, self.end, timeline.steps)
        return Common(timeline.steps, True, partial(_stairs, self.jumps, start, end))


def _stairs(jumps: int, start: float, end: float, steps: Floats) -> Floats:
    # One division, so that a whole number of intervals is not rounded to just below it.
    gone = np.floor(jumps * (steps - start) / (end - start))
    return np.clip(gone, 0.0, jumps) / jumps
