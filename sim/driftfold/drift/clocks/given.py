"""Clocks that a specification gives."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats
from driftfold.drift.clock import Clock, Readings
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.registry import register


@register("given")
@dataclass(frozen=True)
class Given(Clock):
    """Start, phase and pace as they are given: one for all clients, or a list of one for each.

    Attributes
    ----------
    start
        Steps that a clock stands still at first.
    phase
        What it shows at step 0, in steps of the schedule.
    pace
        Steps of the schedule that pass in one of the stream.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> clocks = Given(start=(0, 10)).readings(Timeline(2, steps=100, seconds=60.0, seed=Seed(1)))
    >>> clocks.at(np.array([0, 1]), np.array([15, 15]))
    array([15.,  5.])
    """

    start: Annotated[float, Ge(0)] | tuple[Annotated[float, Ge(0)], ...] = 0.0
    phase: float | tuple[float, ...] = 0.0
    pace: Annotated[float, Gt(0)] | tuple[Annotated[float, Gt(0)], ...] = 1.0

    def readings(self, timeline: Timeline) -> Readings:
        """Return the clocks; raises `SpecError` when a list is not one entry for each client."""
        start, phase, pace = (
            _each(name, value, timeline.clients)
            for name, value in (("start", self.start), ("phase", self.phase), ("pace", self.pace))
        )
        return Readings(start, pace, phase)


def _each(name: str, value: float | tuple[float, ...], clients: int) -> Floats:
    values = np.asarray(value, np.float64)
    if values.ndim and len(values) != clients:
        raise SpecError(
            f"clock 'given' got {len(values)} values of {name} for {clients} clients; give one "
            "number, or a list of one for each client"
        )
    return np.broadcast_to(values, clients).copy()
