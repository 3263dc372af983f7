"""Availability with a daily rhythm, in slots of time or by dispatch."""

import math
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.phases import phases
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.participation.scheduled import Schedule, scheduled
from driftfold.registry import register

_DAY = 86400.0
_HOUR = 3600.0


@register("diurnal")
@dataclass(frozen=True)
class Diurnal(InSlots):
    """Clients are on or off slot by slot, more often around their peak hour.

    Slot n is [n slot, (n+1) slot). Client i is on throughout it with probability
    clip(duty (1 + amplitude cos(2 pi (t - peak - phase_i) / day)), 0, 1), t the slot's middle,
    independently of other slots and clients, and answers every dispatch. The default amplitude
    and spread give four times as many clients at the daily high as at the low, as reported by
    Bonawitz et al., "Towards Federated Learning at Scale" (2019), section 9.

    Attributes
    ----------
    duty
        Share of its time that a client is on, where nothing is clipped: one for all clients, or a
        list of one for each.
    amplitude
        Relative size of the daily swing; above 1 there are hours of certain absence.
    peak
        Hour of the day at which most clients are on; time 0 is midnight.
    spread
        Standard deviation of phase_i ~ Normal(0, spread) over clients, in hours.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers, and an
        hour passes from one to the next.
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

    duty: Probability | tuple[Probability, ...] = 0.4
    amplitude: Annotated[float, Ge(0)] = 0.65
    peak: float = 2.0
    spread: Annotated[float, Ge(0)] = 1.5
    slot: Slot = _HOUR
    horizon: Annotated[float, Gt(0)] = 366.0

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the shares do not fit."""
        duty = probabilities("diurnal", self.duty, 0.0, 1.0, fleet)
        length = _HOUR if self.slot == "dispatch" else self.slot
        peaks = (self.peak + phases(fleet.seed, fleet.size, self.spread)) * _HOUR
        ahead = max(1, math.ceil(self.horizon * _DAY / length))
        days = Daily(duty, self.amplitude, peaks, length)
        slots = fleet.seed.stream("participation.slots")
        return scheduled(days, slots, self.slot, ahead, patient=False)


@final
@dataclass(frozen=True, eq=False)
class Daily(Schedule):
    """Probabilities that follow the hour of the day.

    Attributes
    ----------
    duty
        Mean of each client's probability, where nothing is clipped, shape (N,).
    amplitude
        Relative size of the daily swing.
    peaks
        Time of the day at which each client is most often on, seconds, shape (N,).
    length
        Length of a slot in seconds.
    """

    duty: Floats
    amplitude: float
    peaks: Floats
    length: float

    def at(self, clients: Ints, slots: Ints) -> Floats:
        """Probabilities, shape (k, m)."""
        middle = np.fmod((slots + 0.5) * self.length, _DAY)
        angle = 2 * np.pi * (middle - self.peaks[clients, None]) / _DAY
        swing: Floats = in_whole_vectors(np.cos, angle)
        return np.clip(self.duty[clients, None] * (1 + self.amplitude * swing), 0.0, 1.0)

    def bounds(self, clients: Ints) -> tuple[Floats, Floats]:
        """What the cosine's -1 and 1 make of it."""
        duty, swing = self.duty[clients], self.amplitude
        return np.clip(duty * (1 - swing), 0.0, 1.0), np.clip(duty * (1 + swing), 0.0, 1.0)
