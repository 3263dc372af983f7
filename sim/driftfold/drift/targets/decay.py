"""Classes that are rarer and rarer."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("decay")
@dataclass(frozen=True)
class Decay(LabelTarget):
    """A long tail: class k has a share in proportion to ratio^(k / (K-1)).

    Attributes
    ----------
    ratio
        Share of the last class over that of the first.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=100, seconds=60.0, seed=Seed(1))
    >>> Decay(0.25).shares(timeline, Pool(3, prior=np.full(3, 1 / 3))).round(3)
    array([[0.571, 0.286, 0.143]])
    """

    ratio: Annotated[float, Interval(gt=0, le=1)] = 0.1

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K)."""
        weights = self.ratio ** (np.arange(pool.classes) / max(1, pool.classes - 1))
        return np.tile(weights / weights.sum(), (timeline.clients, 1))
