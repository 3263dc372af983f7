"""Participation that swings as a sine."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt, Interval

from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.modulated import Modulated
from driftfold.participation.probabilities import Probability, probabilities
from driftfold.participation.scheduled import scheduled
from driftfold.participation.sine_factor import SineFactor
from driftfold.registry import register


@register("sine")
@dataclass(frozen=True)
class Sine(InSlots):
    """Independent answers with p_i(n) = p_i (swing sin(2 pi n / period) + 1 - swing).

    Source: Xiang et al., "Efficient Federated Learning against Heterogeneous and Non-stationary
    Client Unavailability" (FedAWE, NeurIPS 2024), experiments.

    Attributes
    ----------
    p
        Largest probability: one for all clients, a list of one for each, or None to draw them.
    low, high
        Drawn probabilities are p_i ~ U(low, high), fixed by the seed and the client's id.
    swing
        Half of the swing, relative to p_i.
    period
        Slots of one period.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(3, 5), importance=np.full(3, 1 / 3))
    >>> Sine(p=0.5).attend(fleet).probability_at(np.array([0]), dispatch=15).round(3)
    array([0.2])
    """

    p: Probability | tuple[Probability, ...] | None = None
    low: Probability = 0.0
    high: Probability = 1.0
    swing: Annotated[float, Interval(ge=0, le=0.5)] = 0.3
    period: Annotated[float, Gt(0)] = 20.0
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when the probabilities do not fit."""
        p = probabilities("sine", self.p, self.low, self.high, fleet)
        schedule = Modulated(p, SineFactor(self.swing, self.period))
        return scheduled(schedule, fleet.seed.stream("participation.slots"), self.slot)
