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
from driftfold.registry import register
from driftfold.rng import Stream

_DAY = 86400.0
_HOUR = 3600.0
# Client-slots looked at in one step of a scan: bounds its memory, not its result.
_TILE = 1 << 18


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
        return Slots(self, self.spread * normal, fleet.seed.stream("participation.slots"))


@final
@dataclass(frozen=True, eq=False)
class Slots(Attendance):
    """On or off slot by slot: a pure function of client and slot number.

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

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on in the slot that holds t, shape (k,)."""
        return self._on(clients, np.array([self._slot(t)]))[:, 0]

    def session_end(self, clients: Ints, t: float) -> Floats:
        """Start of the first slot after t in which the client is off; t if it is off at t."""
        return self._leaves(clients, t, on=True)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Return t if the client is on, else the start of the first later slot where it is."""
        return self._leaves(clients, t, on=False)

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

    def _slot(self, t: float) -> int:
        """Return the number of the slot that holds t, by the very products that slots start at."""
        length = self.model.slot
        number = math.floor(t / length)
        # The quotient may be rounded across the boundary that the product n * slot defines.
        if (number + 1) * length <= t:
            return number + 1
        return number - 1 if number * length > t else number

    def _leaves(self, clients: Ints, t: float, on: bool) -> Floats:
        """When each client, from t, ceases to be on (or off): t itself if it is not, else inf."""
        result = np.full(len(clients), np.inf)
        if self.model.duty == 0 and not on:
            return result
        waiting = np.arange(len(clients))
        first = self._slot(t)
        last = first + 1 + max(1, math.ceil(self.model.horizon * _DAY / self.model.slot))
        width = 8
        while waiting.size and first < last:
            width = max(1, min(width, last - first, _TILE // waiting.size))
            slots = np.arange(first, first + width)
            left = self._on(clients[waiting], slots) != on
            found = left.any(axis=1)
            starts = slots[left[found].argmax(axis=1)] * self.model.slot
            result[waiting[found]] = np.maximum(starts, t)
            waiting = waiting[~found]
            first += width
            width *= 2
        return result
