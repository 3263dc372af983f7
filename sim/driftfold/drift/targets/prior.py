"""What a model was trained on before."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("prior")
@dataclass(frozen=True)
class Prior(LabelTarget):
    """The shares pi_0 of the data that a model was trained on before: no label shift.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> Prior().shares(timeline, Pool(2, prior=np.array([0.9, 0.1])))
    array([[0.9, 0.1]])
    """

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K)."""
        return np.tile(np.asarray(pool.prior, np.float64), (timeline.clients, 1))
