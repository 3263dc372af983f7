"""Processes in slots: on or off slot by slot, where a slot is a time or a dispatch."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import RunError
from driftfold.participation.base import Attendance

AHEAD = 1 << 16
"""Slots that are looked ahead: who has no chance to change within them counts as never changing."""
FAR = 1 << 22
"""Slots after which who has a chance, and has not changed, counts as never changing, too."""

_WORDS = 2**32
"""Slots are numbered below: what is drawn in one is addressed by 32 bits."""

# Client-slots looked at in one step of a scan: bounds its memory, not its result.
_TILE = 1 << 16


class SlotProcess(ABC):
    """On or off in slots 0, 1, 2, ...: a pure function of client and slot."""

    @abstractmethod
    def holds(self, clients: Ints, slot: int) -> Bools:
        """Whether each client is on in this slot, shape (k,)."""

    @abstractmethod
    def changes(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether each slot is one in which who was `on` (off) before is so no more, (k, m)."""

    def chance(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether who is `on` (off) may cease to be in some of these slots, shape (k,).

        Default: nobody, for who may do so does it within a search.
        """
        return np.zeros(len(clients), dtype=bool)

    def first_change(self, clients: Ints, slot: int, on: bool, ahead: int) -> Ints:
        """First slot after `slot` where each client, `on` (off) in it, is so no more, shape (k,).

        -1 where that is none: not of the next `ahead` slots, in which there is no chance.
        """
        return search(self, clients, slot, on, ahead)

    def stays(self, clients: Ints, on: bool) -> Bools:
        """Whether it is known that who is `on` (off) remains so for ever. Default: of nobody."""
        return np.zeros(len(clients), dtype=bool)


@final
@dataclass(frozen=True, eq=False)
class Slotted(Attendance):
    """A process in slots of time, whose clients answer every dispatch.

    Slot n is [n length, (n+1) length).

    Attributes
    ----------
    process
        What happens in the slots.
    length
        Length of a slot in seconds.
    ahead
        Slots that a search for a change covers.
    """

    process: SlotProcess
    length: float
    ahead: int = AHEAD

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is on in the slot that holds t, shape (k,)."""
        return self.process.holds(clients, slot_of(t, self.length))

    def session_end(self, clients: Ints, t: float) -> Floats:
        """Start of the first slot after t in which the client is off; t if it is off at t."""
        return self._until(clients, t, on=True)

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Return t if the client is on, else the start of the first later slot where it is."""
        return self._until(clients, t, on=False)

    def _until(self, clients: Ints, t: float, on: bool) -> Floats:
        """When each client, from t, ceases to be on (or off): t itself if it is not, else inf."""
        number = slot_of(t, self.length)
        concerned = np.flatnonzero(self.process.holds(clients, number) == on)
        result = np.full(len(clients), float(t))
        found = self.process.first_change(clients[concerned], number, on, self.ahead)
        result[concerned] = np.where(found < 0, np.inf, found * self.length)
        return result


def search(process: SlotProcess, clients: Ints, slot: int, on: bool, ahead: int) -> Ints:
    """First slot after `slot` where each client, `on` (off) in it, is so no more, (k,); or -1.

    Slot by slot, in steps that grow.
    """
    result = np.full(len(clients), -1, dtype=np.int64)
    waiting = np.flatnonzero(~process.stays(clients, on))
    far = min(slot + 1 + max(ahead, FAR), _WORDS)
    first, last, width = slot + 1, min(slot + 1 + ahead, far), 8
    while waiting.size and first < far:
        if first == last:
            waiting = waiting[_chance(process, clients[waiting], last - ahead, last, on)]
            last = min(last + ahead, far)
            continue
        width = max(1, min(width, last - first, _TILE // waiting.size))
        slots = np.arange(first, first + width)
        changed = process.changes(clients[waiting], slots, on)
        found = changed.any(axis=1)
        result[waiting[found]] = slots[changed[found].argmax(axis=1)]
        waiting = waiting[~found]
        first += width
        width *= 2
    return result


def _chance(process: SlotProcess, clients: Ints, first: int, last: int, on: bool) -> Bools:
    """Whether each client has a chance to change in slots first .. last - 1, shape (k,)."""
    result = np.zeros(len(clients), dtype=bool)
    waiting, width = np.arange(len(clients)), 1
    while waiting.size and first < last:
        width = max(1, min(2 * width, last - first, _TILE // waiting.size))
        slots = np.arange(first, first + width)
        result[waiting] = process.chance(clients[waiting], slots, on)
        waiting = waiting[~result[waiting]]
        first += width
    return result


def slot_of(t: float, length: float) -> int:
    """Return the number of the slot that holds t, by the very products that slots start at.

    >>> slot_of(3 * 0.1, 0.1), slot_of(float(np.nextafter(3 * 0.1, 0)), 0.1)
    (3, 2)
    """
    if not t / length < _WORDS - 1:
        raise RunError(
            f"virtual time {t:g} s lies beyond the 2^32 slots of {length:g} s that can be drawn; "
            "choose longer ones (participation: `slot`, or `every`), or an earlier end of the run "
            "(horizon)"
        )
    number = math.floor(t / length)
    # The quotient may be rounded across the boundary that the product n * length defines.
    if (number + 1) * length <= t:
        return number + 1
    return number - 1 if number * length > t else number


class PerDispatch(Attendance):
    """A process whose slots are the dispatches: every client is on, and answers when it holds."""

    def __init__(self, process: SlotProcess) -> None:
        self.process = process

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client would answer this dispatch, shape (k,)."""
        return self.process.holds(clients, dispatch)


@final
class StationaryPerDispatch(PerDispatch):
    """The same, each client answering any one dispatch with a probability of its own.

    Attributes
    ----------
    p
        Probabilities, shape (N,).
    """

    def __init__(self, process: SlotProcess, p: Floats) -> None:
        super().__init__(process)
        self.p = p

    def probability(self, clients: Ints) -> Floats:
        """Return p_i of each client, shape (k,)."""
        return self.p[clients]
