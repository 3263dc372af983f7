"""Drift back and forth, by jumps at fixed intervals."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("square")
@dataclass(frozen=True)
class Square(Schedule):
    """w is 0 for `every` steps, then 1 for as many, and so on: w_t = floor(t / every) mod 2.

    By default `every` = floor(L / 2) with L = floor(sqrt(T-1)), at least 1: the schedule Squ of
    Fed-ADE (2026). Bai et al. (ATLAS, NeurIPS 2022) jump every sqrt(T) steps.

    Attributes
    ----------
    every
        Steps between jumps; None: from the number T of steps.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> path = Square().path(Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1)))
    >>> path.weight(np.zeros(10, int), np.arange(10)).astype(int).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1, 0, 0]
    >>> path.changes(0)[:3]
    array([ 4,  8, 12])
    """

    every: Annotated[float, Gt(0)] | None = None

    def path(self, timeline: Timeline) -> Path:
        """Return the path."""
        every = self.every or max(1, math.isqrt(max(0, timeline.steps - 1)) // 2)
        return Common(timeline.steps, True, partial(_turns, float(every)))


def _turns(every: float, steps: Floats) -> Floats:
    return np.mod(np.floor(steps / every), 2.0)
