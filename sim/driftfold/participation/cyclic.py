"""Participation in regular turns."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Bools, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.participation.slots import SlotProcess, Slotted, StationaryPerDispatch
from driftfold.registry import register


@register("cyclic")
@dataclass(frozen=True)
class Cyclic(InSlots):
    """Client i is on for round(p_i period) slots of each period, from a phase of its own.

    The phase is uniform, so that any one slot finds the client on with probability
    round(p_i period) / period; from then on nothing is random. Source: Wang and Ji, "A Lightweight
    Method for Tackling Unknown Participation Statistics in Federated Averaging" (FedAU, ICLR 2024),
    experiments.

    Attributes
    ----------
    p
        Share of the slots: one for all clients, a list of one for each, or None to draw it.
    low, high
        Drawn shares are p_i ~ U(low, high), fixed by the seed and the client's id.
    period
        Slots of one period.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3))
    >>> turns = Cyclic(p=0.4, period=5).attend(fleet)
    >>> "".join(".#"[int(turns.responds(np.array([0]), n)[0])] for n in range(15))
    '...##...##...##'
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0
    period: Annotated[int, Interval(ge=1, le=2**32)] = 100
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the shares do not fit."""
        p = probabilities("cyclic", self.p, self.low, self.high, fleet)
        active = np.rint(p * self.period).astype(np.int64)
        everyone, phases = np.arange(fleet.size), fleet.seed.stream("participation.phase")
        turns = Turns(active, phases.integers(everyone, 0, 1, self.period)[:, 0], self.period)
        if self.slot == "dispatch":
            return StationaryPerDispatch(turns, active / self.period)
        return Slotted(turns, self.slot)


@final
@dataclass(frozen=True, eq=False)
class Turns(SlotProcess):
    """Client i is on in slots n with (n + phase_i) mod period < active_i.

    Attributes
    ----------
    active, phase
        Slots on in each period, and the slot of the period in which slot 0 lies, shape (N,) each.
    period
        Slots of one period.
    """

    active: Ints
    phase: Ints
    period: int

    def holds(self, clients: Ints, slot: int) -> Bools:
        """Whether each client is on in this slot, shape (k,)."""
        on: Bools = (self.phase[clients] + slot) % self.period < self.active[clients]
        return on

    def changes(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether each client is in the other state in each slot, shape (k, m)."""
        place = (self.phase[clients, None] + slots) % self.period
        changed: Bools = (place < self.active[clients, None]) != on
        return changed

    def first_change(self, clients: Ints, slot: int, on: bool, ahead: int) -> Ints:
        """First slot of the next stretch off (on), shape (k,); -1 if there is none."""
        place = (self.phase[clients] + slot) % self.period
        left = (self.active[clients] if on else self.period) - place
        return np.where(self.stays(clients, on), -1, slot + left)

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Whether the client is on in all slots (in none)."""
        active = self.active[clients]
        certain: Bools = active >= self.period if on else active <= 0
        return certain
