"""A schedule on clients' own clocks."""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.clock import Clock, Readings
from driftfold.drift.clocks.drawn import Drawn
from driftfold.drift.schedule import Path, Schedule, Steps
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("staggered")
@dataclass(frozen=True)
class Staggered(Schedule):
    """Another schedule, that each client meets at its own time and speed.

    Attributes
    ----------
    schedule
        The schedule; where it ends on its own (`linear`) it does so by the stream's clock.
    clock
        How clients' clocks differ.

    Examples
    --------
    >>> from driftfold.drift.clocks import Given
    >>> from driftfold.drift.schedules import Step
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=3, steps=100, seconds=60.0, seed=Seed(1))
    >>> path = Staggered(Step(at=(50,)), Given(start=(0, 10, 20))).path(timeline)
    >>> [path.changes(client).tolist() for client in range(3)]
    [[50], [60], [70]]
    """

    schedule: Schedule
    clock: Clock = field(default_factory=Drawn)

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        inner = self.schedule.path(timeline)
        return OnClocks(inner.steps, inner.abrupt, inner, self.clock.readings(timeline))


@final
@dataclass(frozen=True, eq=False)
class OnClocks(Path):
    """A path read at the steps that clients' clocks show.

    Attributes
    ----------
    inner
        The path.
    readings
        The clocks.
    """

    inner: Path
    readings: Readings

    def weight(self, clients: Ints, steps: Steps) -> Floats:
        """Weight of the inner path at each client's own step."""
        return self.inner.weight(clients, self.readings.at(clients, np.asarray(steps, np.float64)))
