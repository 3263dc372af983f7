"""Drift at one speed."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.schedules.ends import ends
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("linear")
@dataclass(frozen=True)
class Linear(Schedule):
    """w grows from 0 at step `start` to 1 at step `end`, at one speed.

    By default w_t = t / (T-1), the schedule Lin of Fed-ADE (2026). Bai et al., "Adapting to Online
    Label Shift with Provable Guarantees" (ATLAS, NeurIPS 2022) have (t+1) / T: `start` = -1.

    Attributes
    ----------
    start
        Last step at which w is 0.
    end
        First step at which w is 1; None: the last step T-1.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> path = Linear().path(Timeline(clients=1, steps=101, seconds=60.0, seed=Seed(1)))
    >>> path.weight(np.zeros(3, int), np.array([0, 1, 100])), path.changes(0)
    (array([0.  , 0.01, 1.  ]), array([1]))
    """

    start: float = 0.0
    end: float | None = None

    def path(self, timeline: Timeline) -> Path:
        """Return the path; raises `SpecError` when it ends before it starts."""
        start, end = ends("linear", self.start, self.end, timeline.steps)
        return Common(timeline.steps, False, partial(_ramp, start, end))


def _ramp(start: float, end: float, steps: Floats) -> Floats:
    return np.clip((steps - start) / (end - start), 0.0, 1.0)
