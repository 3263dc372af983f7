"""Participation that alternates between two levels."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.modulated import Modulated
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.participation.scheduled import scheduled
from driftfold.registry import register


@final
@dataclass(frozen=True)
class Steps:
    """f(n) = 1 for `length` slots, then `lower` for as many, and so on.

    >>> Steps(length=2, lower=0.4)(np.arange(6))
    array([1. , 1. , 0.4, 0.4, 1. , 1. ])
    """

    length: int
    lower: float

    def __call__(self, slots: Ints) -> Floats:
        """Factor in each slot, shape (m,)."""
        return np.where((slots // self.length) % 2 == 0, 1.0, self.lower)


@register("staircase")
@dataclass(frozen=True)
class Staircase(InSlots):
    """Independent answers with probability p_i for some slots, then `lower` p_i for as many.

    Source: Xiang et al., "Efficient Federated Learning against Heterogeneous and Non-stationary
    Client Unavailability" (FedAWE, NeurIPS 2024), experiments.

    Attributes
    ----------
    p
        Upper probability: one for all clients, a list of one for each, or None to draw them.
    low, high
        Drawn probabilities are p_i ~ U(low, high), fixed by the seed and the client's id.
    length
        Slots of one step.
    lower
        The lower level, relative to p_i.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3))
    >>> attendance = Staircase(p=0.5).attend(fleet)
    >>> [float(attendance.probability_at(np.array([0]), n)[0]) for n in (9, 10, 20)]
    [0.5, 0.2, 0.5]
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0
    length: Annotated[int, Interval(ge=1, le=2**32)] = 10
    lower: Probability = 0.4
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the probabilities do not fit."""
        p = probabilities("staircase", self.p, self.low, self.high, fleet)
        schedule = Modulated(p, Steps(self.length, self.lower))
        return scheduled(schedule, fleet.seed.stream("participation.slots"), self.slot)
