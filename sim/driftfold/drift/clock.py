"""Clients' own clocks: when each meets a schedule, and how fast it goes through it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.schedule import Steps
from driftfold.drift.timeline import Timeline
from driftfold.registry import family


@final
@dataclass(frozen=True, eq=False)
class Readings:
    """What every client's clock shows: phase + pace max(t - start, 0) at step t.

    Attributes
    ----------
    start
        Steps that each clock stands still at first, shape (N,).
    pace
        Steps of the schedule that pass in one of the stream, shape (N,): a period is 1 / pace as
        long.
    phase
        What each clock shows at step 0, in steps of the schedule, shape (N,); it may be below 0.
    """

    start: Floats
    pace: Floats
    phase: Floats

    def at(self, clients: Ints, steps: Steps) -> Floats:
        """Steps of the schedule, shape (k,), that clients (k,) are at."""
        gone = np.maximum(steps - self.start[clients], 0.0)
        shown: Floats = self.phase[clients] + self.pace[clients] * gone
        return shown


@family("clock")
class Clock(ABC):
    """How clients' clocks differ from that of the stream."""

    @abstractmethod
    def readings(self, timeline: Timeline) -> Readings:
        """Return the clocks of all clients, addressed by the timeline's seed."""
