"""Clocks of clients in time zones, the same as those of participation."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Len

from driftfold.drift.clock import Clock, Readings
from driftfold.drift.timeline import Timeline
from driftfold.participation.phases import phases
from driftfold.registry import register

_HOUR = 3600.0


@register("time_zones")
@dataclass(frozen=True)
class TimeZones(Clock):
    """Each client's day is late by Normal(0, spread) plus its zone, in hours of virtual time.

    The draws are those of participation 'diurnal' (which has no zones) and 'diurnal_sessions':
    with their `spread` and `zones`, and a schedule 'recurring' with their `peak`, a client drifts
    with its own day and night, and what is seen of it is not what it has on average.

    Attributes
    ----------
    spread
        Standard deviation over clients, in hours.
    zones
        Time zones in hours; each client is in one of them, drawn evenly.

    Examples
    --------
    >>> from driftfold.drift.schedules import Recurring, Staggered
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=24, seconds=3600.0, seed=Seed(1))
    >>> clock = TimeZones(spread=0.0, zones=(3.0,))
    >>> Staggered(Recurring(), clock).path(timeline).changes(0)  # Recurring() itself: 8 and 20
    array([11, 23])
    """

    spread: Annotated[float, Ge(0)] = 1.5
    zones: Annotated[tuple[float, ...], Len(1)] = (0.0,)

    def readings(self, timeline: Timeline) -> Readings:
        """Return the clocks."""
        late = phases(timeline.seed, timeline.clients, self.spread, self.zones)
        still = np.zeros(timeline.clients)
        return Readings(still, np.ones(timeline.clients), -late * _HOUR / timeline.seconds)
