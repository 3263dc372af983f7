"""All classes alike."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("uniform")
@dataclass(frozen=True)
class Uniform(LabelTarget):
    """Each class with the same share.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> Uniform().shares(timeline, Pool(2, prior=np.array([0.9, 0.1])))
    array([[0.5, 0.5]])
    """

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K)."""
        return np.full((timeline.clients, pool.classes), 1 / pool.classes)
