"""Independent answers with probabilities that follow a schedule."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import Slot
from driftfold.participation.slots import AHEAD, PerDispatch, SlotProcess, Slotted
from driftfold.rng import Stream


class Schedule(ABC):
    """Probability p_i(n) that client i is on in slot n."""

    @abstractmethod
    def at(self, clients: Ints, slots: Ints) -> Floats:
        """Probabilities, shape (k, m), for clients (k,) and slots (m,)."""

    @abstractmethod
    def bounds(self, clients: Ints) -> tuple[Floats, Floats]:
        """A lower and an upper bound on p_i over all slots, shape (k,) each."""


@final
@dataclass(frozen=True, eq=False)
class IndependentSlots(SlotProcess):
    """Client i is on in slot n with probability p_i(n), independently of all else.

    Attributes
    ----------
    schedule
        The probabilities.
    draws
        Stream of the slots, addressed by client and slot.
    patient
        Whether who has a chance to change is searched for beyond what is looked ahead.
    """

    schedule: Schedule
    draws: Stream
    patient: bool = True

    def holds(self, clients: Ints, slot: int) -> Bools:
        """Whether each client is on in this slot, shape (k,)."""
        # Draws are below 1, so a probability of 1 always holds and one of 0 never does.
        p = self.schedule.at(clients, _one(slot))[:, 0]
        on: Bools = self.draws.uniform(clients, slot, 1)[:, 0] < p
        return on

    def changes(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether each client is in the other state in each slot, shape (k, m)."""
        draws = self.draws.uniform(clients[:, None], slots, 1)[..., 0]
        changed: Bools = (draws < self.schedule.at(clients, slots)) != on
        return changed

    def chance(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether a probability is below 1 (above 0) in some of the slots, shape (k,)."""
        if not self.patient:
            return super().chance(clients, slots, on)
        may: Bools = (self.schedule.at(clients, slots) != float(on)).any(axis=1)
        return may

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Whether the client is certain to be on (off) in all slots."""
        low, high = self.schedule.bounds(clients)
        return low >= 1 if on else high <= 0


@final
class ScheduledPerDispatch(PerDispatch):
    """Answers whose probabilities change from dispatch to dispatch."""

    def __init__(self, process: IndependentSlots) -> None:
        super().__init__(process)
        self.schedule = process.schedule

    def probability_at(self, clients: Ints, dispatch: int) -> Floats:
        """Probability that each client answers this dispatch, shape (k,)."""
        return self.schedule.at(clients, _one(dispatch))[:, 0]


def scheduled(
    schedule: Schedule, draws: Stream, slot: Slot, ahead: int = AHEAD, patient: bool = True
) -> Attendance:
    """Return the attendance of a schedule whose slots last `slot` seconds, or are dispatches."""
    process = IndependentSlots(schedule, draws, patient)
    return ScheduledPerDispatch(process) if slot == "dispatch" else Slotted(process, slot, ahead)


def _one(slot: int) -> Ints:
    return np.array([slot], dtype=np.int64)
