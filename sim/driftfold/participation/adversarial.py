"""Attendance at its worst, to try a server on."""

from dataclasses import dataclass
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.in_slots import SlotSeconds
from driftfold.participation.slots import SlotProcess, Slotted
from driftfold.registry import register


@register("adversarial")
@dataclass(frozen=True)
class Adversarial(Participation):
    """Attendance made to break a server: all off, one who never answers, or flapping.

    Attributes
    ----------
    mode
        `all_off`: all clients are on but off in [start, end); `silent`: all are on and answer
        always, but for one, who never does; `flapping`: all change between on and off together.
    start, end
        For `all_off`, in seconds; without an end it is for ever.
    client
        For `silent`: who it is.
    every
        For `flapping`: seconds on, then as many off, and so on.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(2, 5), importance=np.full(2, 0.5))
    >>> attendance = Adversarial(mode="flapping").attend(fleet)
    >>> attendance.session_end(np.arange(2), 4.5), attendance.next_on(np.arange(2), 5.0)
    (array([5., 5.]), array([6., 6.]))
    """

    mode: Literal["all_off", "silent", "flapping"] = "flapping"
    start: Annotated[float, Ge(0)] = 0.0
    end: Annotated[float, Ge(0)] | None = None
    client: Annotated[int, Ge(0)] = 0
    every: SlotSeconds = 1.0

    @property
    def knows_probability(self) -> bool:  # type: ignore[override]
        """Whether only answers are lost, and no time."""
        return self.mode == "silent"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the fields do not fit."""
        if self.mode == "flapping":
            return Slotted(Flapping(), self.every)
        if self.mode == "all_off":
            end = np.inf if self.end is None else self.end
            if not self.start < end:
                raise SpecError(
                    f"participation 'adversarial' got start = {self.start}, end = {self.end}; all "
                    "are off from start to end, so set start < end"
                )
            return AllOff(self.start, end)
        if self.client >= fleet.size:
            raise SpecError(
                f"participation 'adversarial' got client = {self.client} of {fleet.size} clients; "
                f"choose one from 0 to {fleet.size - 1}"
            )
        return Silent(self.client)


@final
class Flapping(SlotProcess):
    """Everyone is on in even slots and off in odd ones."""

    def holds(self, clients: Ints, slot: int) -> Bools:
        """Whether the slot is even, for each client, shape (k,)."""
        return np.full(len(clients), slot % 2 == 0)

    def changes(self, clients: Ints, slots: Ints, on: bool) -> Bools:
        """Whether each slot is of the other parity, shape (k, m)."""
        return np.broadcast_to((slots % 2 == 0) != on, (len(clients), len(slots)))


@final
@dataclass(frozen=True, eq=False)
class AllOff(Attendance):
    """Everyone is off in [start, end), and on at all other times."""

    start: float
    end: float

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether t is outside the interval, shape (k,)."""
        return np.full(len(clients), not self.start <= t < self.end)

    def session_end(self, clients: Ints, t: float) -> Floats:
        """Start of the interval before it, never after it; t within it."""
        end = self.start if t < self.start else t if t < self.end else np.inf
        return np.full(len(clients), float(end))

    def next_on(self, clients: Ints, t: float) -> Floats:
        """End of the interval within it, else t."""
        return np.full(len(clients), float(self.end if self.start <= t < self.end else t))


@final
@dataclass(frozen=True, eq=False)
class Silent(Attendance):
    """Everyone is on and answers always, but for one client, who never does."""

    client: int

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        """Whether each client is another one, shape (k,)."""
        answers: Bools = clients != self.client
        return answers

    def probability(self, clients: Ints) -> Floats:
        """Return 1, and 0 for the silent client, shape (k,)."""
        return self.responds(clients, 0).astype(np.float64)
