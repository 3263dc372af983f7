"""Participation that changes abruptly, once."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.probabilities import Probability, drawn, probabilities
from driftfold.participation.scheduled import Schedule, scheduled
from driftfold.participation.slots import AHEAD, FAR
from driftfold.registry import register


@register("jump")
@dataclass(frozen=True)
class Jump(InSlots):
    """Independent answers with probability p_i before slot `at`, and another from then on.

    Attributes
    ----------
    p
        Probability before: one for all clients, a list of one for each, or None to draw them.
    low, high
        Drawn probabilities are p_i ~ U(low, high), fixed by the seed and the client's id.
    at
        First slot with the new probability.
    after
        Probability from then on: one for all clients, a list of one for each, or None to draw it
        anew from U(low, high), independently of what it was.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3))
    >>> attendance = Jump(p=0.5, at=100, after=(0.1, 0.5, 0.9)).attend(fleet)
    >>> [attendance.probability_at(np.arange(3), n).tolist() for n in (99, 100)]
    [[0.5, 0.5, 0.5], [0.1, 0.5, 0.9]]
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0
    at: Annotated[int, Interval(ge=0, le=2**32)] = 100
    after: Probability | tuple[Probability, ...] | None = None
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the probabilities do not fit."""
        before = probabilities("jump", self.p, self.low, self.high, fleet)
        if self.after is None:
            after = drawn("jump", self.low, self.high, fleet, "participation.p.after")
        else:
            after = probabilities("jump", self.after, self.low, self.high, fleet)
        schedule = Change(before, after, self.at)
        # Before the jump there may be no chance for long.
        ahead = min(max(AHEAD, self.at + 1), FAR)
        return scheduled(schedule, fleet.seed.stream("participation.slots"), self.slot, ahead)


@final
@dataclass(frozen=True, eq=False)
class Change(Schedule):
    """One probability of each client before a slot, another from it on.

    Attributes
    ----------
    before, after
        The probabilities, shape (N,) each.
    slot
        First slot with the second.
    """

    before: Floats
    after: Floats
    slot: int

    def at(self, clients: Ints, slots: Ints) -> Floats:
        """Probabilities, shape (k, m)."""
        return np.where(slots < self.slot, self.before[clients, None], self.after[clients, None])

    def bounds(self, clients: Ints) -> tuple[Floats, Floats]:
        """The smaller and the larger of the two."""
        both = self.before[clients], self.after[clients]
        return np.minimum(*both), np.maximum(*both)
