"""Participation whose days are the classes' turns."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.label_sets import label_sets
from driftfold.participation.probabilities import Probability
from driftfold.participation.scheduled import Schedule, scheduled
from driftfold.registry import register


@register("label_cycle")
@dataclass(frozen=True)
class LabelCycle(InSlots):
    """Independent answers, more often while it is the turn of a client's classes.

    Turns go through the classes 0 to C - 1 once in a period: slot n is at r = (1 + n mod T) / T of
    it. A client whose classes lie between a and b answers with probability 1 where
    a / (C - 1) <= r <= b / (C - 1), else with 1 - share. Source: the mode "label cycle" of FLGo
    (Wang et al., 2023).

    Attributes
    ----------
    share
        How much of the probability depends on the turn.
    period
        Slots T of one period.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(2, 5), importance=np.full(2, 0.5),
    ...               label_shares=np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
    >>> turns = LabelCycle(share=0.9, period=4).attend(fleet)
    >>> [turns.probability_at(np.arange(2), n).round(3).tolist() for n in range(4)]
    [[1.0, 0.1], [1.0, 1.0], [0.1, 1.0], [0.1, 1.0]]
    """

    share: Probability = 0.5
    period: Annotated[int, Interval(ge=1, le=2**32)] = 24
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `CapabilityError` when the data have no labels."""
        has = label_sets("label_cycle", fleet)
        last = has.shape[1] - 1
        highest = last - has[:, ::-1].argmax(axis=1)
        turns = Turns(
            has.argmax(axis=1) / max(last, 1), highest / max(last, 1), self.share, self.period
        )
        return scheduled(turns, fleet.seed.stream("participation.slots"), self.slot)


@final
@dataclass(frozen=True, eq=False)
class Turns(Schedule):
    """Probability 1 from `first` to `last` of a period, else 1 - share.

    Attributes
    ----------
    first, last
        Where in a period each client's turn begins and ends, from 0 to 1, shape (N,) each.
    share
        What is lost at other times.
    period
        Slots of one period.
    """

    first: Floats
    last: Floats
    share: float
    period: int

    def at(self, clients: Ints, slots: Ints) -> Floats:
        """Probabilities, shape (k, m)."""
        place = self._places(slots % self.period)
        turn = (self.first[clients, None] <= place) & (place <= self.last[clients, None])
        return np.where(turn, 1.0, 1 - self.share)

    def bounds(self, clients: Ints) -> tuple[Floats, Floats]:
        """1 for clients whose turn it always is, 1 - share for those whose turn never comes."""
        places = self._places(np.arange(self.period))
        begin = np.searchsorted(places, self.first[clients], side="left")
        turns = np.searchsorted(places, self.last[clients], side="right") - begin
        low = np.where(turns == self.period, 1.0, 1 - self.share)
        return low, np.where(turns > 0, 1.0, 1 - self.share)

    def _places(self, slots: Ints) -> Floats:
        """Where in the period its slots 0, 1, 2, ... are."""
        places: Floats = (1 + slots) / self.period
        return places
