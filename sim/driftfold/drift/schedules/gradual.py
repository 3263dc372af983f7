"""Drift from one state to another along a sigmoid."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.schedules.ends import ends
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register

_REACH = 4.0
"""The part of the logistic function that is used: from -4, where it is 0.018, to 4."""


@register("gradual")
@dataclass(frozen=True)
class Gradual(Schedule):
    """w goes from 0 to 1 between two steps along a logistic function.

    With u in [0, 1] the share of the way, w = (s(8u - 4) - s(-4)) / (s(4) - s(-4)) where s is the
    logistic function: as in the streams of MOA (Bifet et al. 2010), but exactly 0 before `start`
    and 1 after `end`, so that the drift has a beginning.

    Attributes
    ----------
    start
        Last step at which w is 0; None: a third of the stream.
    end
        First step at which w is 1; None: two thirds of the stream.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> path = Gradual(start=40, end=60).path(timeline)
    >>> path.weight(np.zeros(5, int), np.array([40, 45, 50, 55, 60])).round(3), path.changes(0)
    (array([0.   , 0.105, 0.5  , 0.895, 1.   ]), array([41]))
    """

    start: float | None = None
    end: float | None = None

    def path(self, timeline: Timeline) -> Path:
        """Return the path; raises `SpecError` when it ends before it starts."""
        start = float(timeline.steps // 3) if self.start is None else self.start
        last = max(start + 1, float(2 * timeline.steps // 3)) if self.end is None else self.end
        return Common(
            timeline.steps, False, partial(_sigmoid, *ends("gradual", start, last, timeline.steps))
        )


def _sigmoid(start: float, end: float, steps: Floats) -> Floats:
    share = np.clip((steps - start) / (end - start), 0.0, 1.0)
    # tanh(x / 2) / 2 is the logistic function less one half, and odd: 0, 1/2 and 1 are exact.
    rise = in_whole_vectors(np.tanh, _REACH * (share - 0.5)) / np.tanh(_REACH / 2)
    w: Floats = np.clip(0.5 * (1 + rise), 0.0, 1.0)
    return w
