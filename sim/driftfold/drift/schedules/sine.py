"""Drift back and forth, smoothly."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register


@register("sine")
@dataclass(frozen=True)
class Sine(Schedule):
    """w swings as a sine with a period of L steps.

    `whole`: w_t = (1 + sin(2 pi (t mod L) / L)) / 2, which starts at one half, L = floor(sqrt(T-1))
    by default: the schedule Sin of Fed-ADE (2026). `half`: w_t = sin(pi (t mod L) / (L-1)), from 0
    up and back within L steps, L = floor(sqrt(T)) by default, at least 2: that of Bai et al.
    (ATLAS, NeurIPS 2022).

    Attributes
    ----------
    period
        Steps L; None: from the number T of steps.
    form
        `whole` or `half`.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> path = Sine().path(Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1)))
    >>> path.weight(np.zeros(5, int), np.arange(5)).round(3)
    array([0.5  , 0.821, 0.992, 0.933, 0.671])
    >>> path.changes(0)[:4]  # up from the start, down after 2, up after 7
    array([ 1,  3,  8, 12])
    """

    period: Annotated[float, Gt(1)] | None = None
    form: Literal["whole", "half"] = "whole"

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        if self.form == "half":
            period = self.period or max(2.0, math.isqrt(timeline.steps))
            return Common(timeline.steps, False, partial(_half, period))
        period = self.period or max(2.0, math.isqrt(max(0, timeline.steps - 1)))
        return Common(timeline.steps, False, partial(_whole, period))


def _whole(period: float, steps: Floats) -> Floats:
    angle = 2 * np.pi * np.mod(steps, period) / period
    return np.clip(0.5 * (1 + in_whole_vectors(np.sin, angle)), 0.0, 1.0)


def _half(period: float, steps: Floats) -> Floats:
    # Between whole steps t mod L may exceed L-1: the swing is over then.
    angle = np.pi * np.minimum(np.mod(steps, period) / (period - 1), 1.0)
    return np.clip(in_whole_vectors(np.sin, angle), 0.0, 1.0)
