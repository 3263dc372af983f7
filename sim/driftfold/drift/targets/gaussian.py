"""Classes that are rarer the farther they are from the middle."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("gaussian")
@dataclass(frozen=True)
class Gaussian(LabelTarget):
    """Class k has a share in proportion to exp(-(k - (K-1)/2)^2 / (2 s^2)), s = width K.

    Attributes
    ----------
    width
        Standard deviation s over the number of classes.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> Gaussian().shares(timeline, Pool(5, prior=np.full(5, 0.2))).round(3)
    array([[0.054, 0.244, 0.403, 0.244, 0.054]])
    """

    width: Annotated[float, Gt(0)] = 0.2

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K)."""
        away = np.arange(pool.classes) - (pool.classes - 1) / 2
        weights = np.exp(-(away**2) / (2 * (self.width * pool.classes) ** 2))
        return np.tile(weights / weights.sum(), (timeline.clients, 1))
