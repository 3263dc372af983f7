"""Shares that a specification gives."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, MinLen

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.registry import register

Weight = Annotated[float, Ge(0)]


@register("given")
@dataclass(frozen=True)
class Given(LabelTarget):
    """Weights of the classes as they are given, scaled to sum 1.

    Attributes
    ----------
    weights
        One weight for each class; or lists of them, which clients 0, 1, ... take in turn.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=3, steps=100, seconds=60.0, seed=Seed(1))
    >>> target = Given(((1, 3), (1, 1)))
    >>> target.shares(timeline, Pool(2, prior=np.full(2, 0.5))).tolist()
    [[0.25, 0.75], [0.5, 0.5], [0.25, 0.75]]
    """

    weights: tuple[Weight, ...] | Annotated[tuple[tuple[Weight, ...], ...], MinLen(1)]

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K); `SpecError` if they do not fit."""
        nested = any(isinstance(entry, tuple) for entry in self.weights)
        rows = self.weights if nested else (self.weights,)
        for row in rows:
            if np.shape(row) != (pool.classes,) or not np.sum(row) > 0:
                raise SpecError(
                    f"label target 'given' got the weights {row!r} for {pool.classes} classes; "
                    "give one weight for each class, not all of them 0"
                )
        table = np.array(rows, np.float64)
        table /= table.sum(axis=1, keepdims=True)
        return table[np.arange(timeline.clients) % len(table)]
