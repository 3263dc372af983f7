"""The shares of another client."""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("other_client")
@dataclass(frozen=True)
class OtherClient(LabelTarget):
    """Client i has the shares that another target gives to client i + `shift` (modulo N).

    With `origin` = that other target itself, clients swap what they have: each moves to what
    another one had, and the fleet as a whole stays as it is.

    Attributes
    ----------
    of
        The other target.
    shift
        How far the other client's number is.

    Examples
    --------
    >>> from driftfold.drift.targets import OneClass
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=3, steps=100, seconds=60.0, seed=Seed(1))
    >>> OtherClient(OneClass()).shares(timeline, Pool(3, prior=np.full(3, 1 / 3))).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    of: LabelTarget
    shift: int = 1

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K)."""
        return np.roll(self.of.shares(timeline, pool), -self.shift, axis=0)
