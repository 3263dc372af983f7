"""Shares drawn from a Dirichlet distribution."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Floats
from driftfold.data.log_gamma import log_gamma
from driftfold.drift.pool import Pool
from driftfold.drift.target import LabelTarget
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register


@register("dirichlet")
@dataclass(frozen=True)
class Dirichlet(LabelTarget):
    """pi_i ~ Dirichlet(alpha, ..., alpha) over the classes, independently for each client.

    Attributes
    ----------
    alpha
        Concentration: 0.1 is one or two classes for each client, 100 nearly all classes alike.
    name
        Targets of the same name draw the same; empty: those of one drift, and each drift its own.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=3, steps=100, seconds=60.0, seed=Seed(1))
    >>> Dirichlet().shares(timeline, Pool(4, prior=np.full(4, 0.25))).round(2)
    array([[0.  , 0.02, 0.88, 0.1 ],
           [0.96, 0.  , 0.03, 0.01],
           [0.  , 0.  , 0.  , 1.  ]])
    """

    alpha: Annotated[float, Gt(0)] = 0.1
    name: str = ""

    def shares(self, timeline: Timeline, pool: Pool) -> Floats:
        """Share of each class for each client, shape (N, K)."""
        draws = timeline.stream("shares", self.name)
        logs = log_gamma(draws, self.alpha, timeline.clients, pool.classes)
        weights = in_whole_vectors(np.exp, logs - logs.max(axis=1, keepdims=True))
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares
