"""No drift: the control."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("constant")
@dataclass(frozen=True)
class Constant(Schedule):
    """w = `level` at all steps: data that differ between clients, or from the source, but stay.

    Attributes
    ----------
    level
        The weight.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> path = Constant(0.5).path(Timeline(clients=2, steps=100, seconds=60.0, seed=Seed(1)))
    >>> path.weight(np.array([0, 1]), np.array([0, 99])), path.changes(0)
    (array([0.5, 0.5]), array([], dtype=int64))
    """

    level: Annotated[float, Interval(ge=0, le=1)] = 0.0

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        return Common(timeline.steps, True, self.course)

    def course(self, steps: Floats) -> Floats:
        """Weight at these steps."""
        return np.full(steps.shape, self.level)
