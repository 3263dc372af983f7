"""Participation with log-normal probabilities that may swing as a sine."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.errors import SpecError
from driftfold.fleet import Fleet
from driftfold.lanes import in_whole_vectors
from driftfold.participation.base import Attendance
from driftfold.participation.in_slots import InSlots, Slot
from driftfold.participation.modulated import Modulated
from driftfold.participation.probabilities import Probability
from driftfold.participation.scheduled import scheduled
from driftfold.participation.sine_factor import SineFactor
from driftfold.registry import register


@register("lognormal_sine")
@dataclass(frozen=True)
class LognormalSine(InSlots):
    """Independent answers with p_i(n) = q_i (amplitude sin(2 pi n / period) + level).

    q_i = c_i / max_j c_j with ln c_i ~ Normal(0, sigma). The default is a fleet that does not
    change ("home devices" with sigma = 0.5); amplitude 0.4, level 0.5 and sigma = 0.25 are "smart
    phones". Source: Ribero, Vikalo, de Veciana: "Federated Learning under Intermittent Client
    Availability and Time-Varying Communication Constraints" (F3AST, 2022), experiments; so, too,
    in FLGo (Wang et al., 2023).

    Attributes
    ----------
    sigma
        Standard deviation of ln c_i.
    amplitude, level
        Swing of the probability and what it swings around, relative to q_i; amplitude <= level and
        amplitude + level <= 1.
    period
        Slots of one period.
    slot
        Length of a slot in seconds; or "dispatch": each is one, which who is on answers.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(9, 5), importance=np.full(9, 1 / 9))
    >>> phones = LognormalSine(sigma=0.25, amplitude=0.4, level=0.5).attend(fleet)
    >>> [round(float(phones.probability_at(np.arange(9), n).max()), 3) for n in (0, 6, 18)]
    [0.5, 0.9, 0.1]
    """

    sigma: Annotated[float, Ge(0)] = 0.5
    amplitude: Probability = 0.0
    level: Probability = 1.0
    period: Annotated[float, Gt(0)] = 24.0
    slot: Slot = "dispatch"

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; raises `SpecError` when these are no probabilities."""
        top = self.amplitude + self.level
        if not (self.amplitude <= self.level and top <= 1 + 1e-12):
            raise SpecError(
                f"participation 'lognormal_sine' got amplitude = {self.amplitude}, level = "
                f"{self.level}; set amplitude <= level and amplitude + level <= 1"
            )
        z = fleet.seed.stream("participation.p").normal(np.arange(fleet.size), 0, 1)[:, 0]
        q = in_whole_vectors(np.exp, self.sigma * (z - z.max()))
        factor = SineFactor(self.amplitude / top if top else 0.0, self.period)
        return scheduled(
            Modulated(min(top, 1.0) * q, factor),
            fleet.seed.stream("participation.slots"),
            self.slot,
        )
