"""Drift that comes back every day."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register

_HOUR = 3600.0


@register("recurring")
@dataclass(frozen=True)
class Recurring(Schedule):
    """w follows the hour of the day, in virtual time: two states that come back.

    `switch`: w is 1 for `hours` hours around the hour `peak`, and 0 else. `wave`: w is
    (1 + cos(2 pi (hour - peak) / day)) / 2. Step t is at t times the seconds of a step, and time 0
    is midnight. On the clock `time_zones` each client has its own hours, those of participation
    'diurnal' and 'diurnal_sessions': with their peak w is highest when most of a zone are there.

    Attributes
    ----------
    peak
        Hour in the middle of state 1.
    hours
        Length of state 1 in hours, of form `switch`.
    day
        Length of a day in hours.
    form
        `switch` or `wave`.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> path = Recurring().path(Timeline(clients=1, steps=48, seconds=3600.0, seed=Seed(1)))
    >>> path.changes(0)  # nights from 20 to 8 o'clock around a peak at 2
    array([ 8, 20, 32, 44])
    """

    peak: float = 2.0
    hours: Annotated[float, Gt(0)] = 12.0
    day: Annotated[float, Gt(0)] = 24.0
    form: Literal["switch", "wave"] = "switch"

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        course = _switch if self.form == "switch" else _wave
        return Common(
            timeline.steps, self.form == "switch", partial(course, self, timeline.seconds)
        )


def _switch(schedule: Recurring, seconds: float, steps: Floats) -> Floats:
    # In seconds, which are whole numbers more often than hours are.
    begin = (schedule.peak - schedule.hours / 2) * _HOUR
    since = np.mod(steps * seconds - begin, schedule.day * _HOUR)
    return (since < schedule.hours * _HOUR).astype(np.float64)


def _wave(schedule: Recurring, seconds: float, steps: Floats) -> Floats:
    day = schedule.day * _HOUR
    angle = 2 * np.pi * np.mod(steps * seconds - schedule.peak * _HOUR, day) / day
    return np.clip(0.5 * (1 + in_whole_vectors(np.cos, angle)), 0.0, 1.0)
