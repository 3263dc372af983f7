"""Inputs that grow noisy."""

from dataclasses import dataclass, field
from typing import Annotated, final

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, Ints, along
from driftfold.drift.base import InputCourse, InputDrift
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Schedule
from driftfold.drift.schedules.linear import Linear
from driftfold.drift.timeline import Timeline
from driftfold.registry import register
from driftfold.rng import Stream

_TILE = 2**18
"""Numbers that noise is drawn for at a time."""


@register("feature_noise")
@dataclass(frozen=True)
class FeatureNoise(InputDrift):
    """To each number of an input comes N(0, (w sd)^2): sensors that wear out.

    The noise is drawn anew at each step, for each sample of a batch, and is the same whenever that
    step is asked for.

    Attributes
    ----------
    schedule
        How w moves.
    sd
        Standard deviation at w = 1, in units of the inputs.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=2, steps=11, seconds=60.0, seed=Seed(1))
    >>> course = FeatureNoise(sd=2.0).bind(timeline, Pool(2, prior=np.full(2, 0.5)))
    >>> x, rows, clients = np.zeros((2, 500, 3)), np.zeros((2, 500), int), np.arange(2)
    >>> [round(float(course.apply(x, rows, clients, np.full(2, t)).std()), 2) for t in (0, 5, 10)]
    [0.0, 1.02, 1.99]
    """

    schedule: Schedule = field(default_factory=Linear)
    sd: Annotated[float, Ge(0)] = 0.5

    def bind(self, timeline: Timeline, pool: Pool) -> InputCourse:
        """Return the course of all clients."""
        return Noising(self.schedule.path(timeline), self.sd, timeline.stream("noise"))


@final
@dataclass(frozen=True, eq=False)
class Noising(InputCourse):
    """Noise of growing size.

    Attributes
    ----------
    sd
        Standard deviation at w = 1.
    draws
        Stream of the noise, addressed by client and step.
    """

    sd: float
    draws: Stream

    def apply(self, x: Array, rows: Ints, clients: Ints, steps: Ints) -> Array:
        """Inputs with their noise; in single precision where they are."""
        size = along(self.sd * self.path.weight(clients, steps), x)
        met, count = x.copy(), int(np.prod(x.shape[1:]))
        draw = self.draws.normal32 if x.dtype == np.float32 else self.draws.normal
        noisy, tile = np.flatnonzero(size), max(1, _TILE // max(1, count))
        for start in range(0, len(noisy), tile):  # all noise together may be large
            some = noisy[start : start + tile]
            noise = draw(clients[some], steps[some], count).reshape(len(some), *x.shape[1:])
            met[some] += (size[some] * noise).astype(x.dtype)
        return met
