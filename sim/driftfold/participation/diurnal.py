"""Availability with a daily rhythm, in continuous time."""

import math
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge, Gt, Interval

from driftfold.arrays import Bools, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.slots import SlotProcess, Slotted
from driftfold.registry import register
from driftfold.rng import Stream

_DAY = 86400.0
_HOUR = 3600.0


@register("diurnal")
@dataclass(frozen=True)
class Diurnal(Participation):
    """Clients are on or off slot by slot, more often around their peak hour.

    Slot n is [n slot, (n+1) slot). Client i is on throughout it with probability
    clip(duty (1 + amplitude cos(2 pi (t - peak - phase_i) / day)), 0, 1), t the slot's middle,
    independently of other slots and clients, and answers every dispatch. The default amplitude
    and spread give four times as many clients at the daily high as at the low, as reported by
    Bonawitz et al., "Towards Federated Learning at Scale" (2019), section 9.

    Attributes
    ----------
    duty
        Share of its time that a client is on, where nothing is clipped.
    amplitude
        Relative size of the daily swing; above 1 there are hours of certain absence.
    peak
        Hour of the day at which most clients are on; time 0 is midnight.
    spread
        Standard deviation of phase_i ~ Normal(0, spread) over clients, in hours.
    slot
        Length of a slot in seconds.
    horizon
        How far ahead to look for a change, in days (at least one slot). A client that stays off
        that long counts as never on again, one that stays on as never off (infinity).

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(1000, 5), importance=np.full(1000, 0.001))
    >>> attendance = Diurnal().attend(fleet)
    >>> on = [int(attendance.available(np.arange(1000), 3600.0 * h).sum()) for h in (2, 14)]
    >>> on[0] > 3 * on[1]
    True
    """

    duty: Annotated[float, Interval(ge=0, le=1)] = 0.4
    amplitude: Annotated[float, Ge(0)] = 0.65
    peak: float = 2.0
    spread: Annotated[float, Ge(0)] = 1.5
    slot: Annotated[float, Gt(0)] = 3600.0
    horizon: Annotated[float, Gt(0)] = 366.0

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance of `fleet`."""
        normal = fleet.seed.stream("participation.phase").normal(np.arange(fleet.size), 0, 1)[:, 0]
        draws = fleet.seed.stream("participation.slots")
        ahead = max(1, math.ceil(self.horizon * _DAY / self.slot))
        return Slotted(DailySlots(self, self.spread * normal, draws), self.slot, ahead)


@final
@dataclass(frozen=True, eq=False)
class DailySlots(SlotProcess):
    """On or off slot by slot, with probabilities that follow the day.

    Attributes
    ----------
    model
        The configuration.
    phase
        Each client's shift of the daily rhythm in hours, shape (N,).
    draws
        Stream of the slots, addressed by client and slot number.
    """

    model: Diurnal
    phase: Floats
    draws: Stream

    def holds(self, clients: Ints, slot: int) -> Bools:
        """Whether each client is on in this slot, shape (k,)."""
        return self._on(clients, np.array([slot]))[:, 0]

    def changes(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether each client is in the other state in each slot, shape (k, m)."""
        changed: Bools = self._on(clients, slots) != on
        return changed

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Everyone, if the share is 0."""
        return np.full(len(clients), self.model.duty == 0 and not on)

    def on_probability(self, clients: Ints, slots: Ints) -> Floats:
        """Probability that each client is on in each slot, shape (k, slots)."""
        model = self.model
        middle = np.fmod((slots + 0.5) * model.slot, _DAY)
        shift = (model.peak + self.phase[clients]) * _HOUR
        angle = 2 * np.pi * (middle - shift[:, None]) / _DAY
        swing: Floats = in_whole_vectors(np.cos, angle)
        return np.clip(model.duty * (1 + model.amplitude * swing), 0.0, 1.0)

    def _on(self, clients: Ints, slots: Ints) -> Bools:
        """Whether each client is on in each slot, shape (k, slots)."""
        draws = self.draws.uniform(clients[:, None], slots, 1)[..., 0]
        on: Bools = draws < self.on_probability(clients, slots)
        return on
