"""A schedule between two other weights than 0 and 1."""

from dataclasses import dataclass
from typing import Annotated, final

from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.drift.schedule import Path, Schedule, Steps
from driftfold.drift.timeline import Timeline
from driftfold.registry import register

Weight = Annotated[float, Interval(ge=0, le=1)]


@register("between")
@dataclass(frozen=True)
class Between(Schedule):
    """Another schedule's w, scaled: low + (high - low) w.

    Milder drift where the two are close; with `low` above `high`, drift that goes the other way.

    Attributes
    ----------
    schedule
        The schedule.
    low, high
        Weights in place of 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.drift.schedules import Square
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> path = Between(Square(), low=0.75, high=0.25).path(timeline)
    >>> path.weight(np.zeros(2, int), np.array([0, 4])), path.changes(0)[:2]
    (array([0.75, 0.25]), array([4, 8]))
    """

    schedule: Schedule
    low: Weight = 0.0
    high: Weight = 1.0

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        inner = self.schedule.path(timeline)
        return Scaled(inner.steps, inner.abrupt, inner, self.low, self.high)


@final
@dataclass(frozen=True, eq=False)
class Scaled(Path):
    """A path between two other weights.

    Attributes
    ----------
    inner
        The path.
    low, high
        As in `Between`.
    """

    inner: Path
    low: float
    high: float

    def weight(self, clients: Ints, steps: Steps) -> Floats:
        """Weight of the inner path, scaled."""
        w = self.inner.weight(clients, steps)
        return (1 - w) * self.low + w * self.high
