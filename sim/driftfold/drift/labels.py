"""Label shift between two distributions."""

from dataclasses import dataclass, field
from typing import final

from driftfold.arrays import Bools, Floats, Ints
from driftfold.drift.base import LabelCourse, LabelDrift
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Schedule
from driftfold.drift.schedules.linear import Linear
from driftfold.drift.target import LabelTarget
from driftfold.drift.targets.dirichlet import Dirichlet
from driftfold.drift.targets.prior import Prior
from driftfold.drift.timeline import Timeline
from driftfold.registry import register


@register("labels")
@dataclass(frozen=True)
class LabelMixture(LabelDrift):
    """Classes come with the shares (1 - w) pi_0 + w pi_i, P(x | y) stays as it is.

    Source: Fed-ADE (2026), label shift; Bai et al., "Adapting to Online Label Shift with Provable
    Guarantees" (ATLAS, NeurIPS 2022).

    Attributes
    ----------
    schedule
        How w moves.
    target
        pi_i: what each client moves to.
    origin
        pi_0: where it comes from.

    Examples
    --------
    >>> import numpy as np
    >>> from driftfold.drift.targets import OneClass
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=2, steps=101, seconds=60.0, seed=Seed(1))
    >>> course = LabelMixture(target=OneClass()).bind(timeline, Pool(2, prior=np.full(2, 0.5)))
    >>> course.shares(np.array([0, 1, 1]), np.array([0, 50, 100])).tolist()
    [[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]
    """

    schedule: Schedule = field(default_factory=Linear)
    target: LabelTarget = field(default_factory=Dirichlet)
    origin: LabelTarget = field(default_factory=Prior)

    def bind(self, timeline: Timeline, pool: Pool) -> LabelCourse:
        """Return the course of all clients; a client's group is its commonest class at w = 1."""
        target = self.target.shares(timeline, pool)
        origin = self.origin.shares(timeline, pool)
        path = self.schedule.path(timeline.of(timeline.part, target.argmax(axis=1)))
        return Mixing(path, origin, target)


@final
@dataclass(frozen=True, eq=False)
class Mixing(LabelCourse):
    """A mixture of two distributions over the classes.

    Attributes
    ----------
    origin, target
        Shares of the classes at w = 0 and 1, shape (N, K) each.
    """

    origin: Floats
    target: Floats

    def shares(self, clients: Ints, steps: Ints) -> Floats:
        """Probability of each class, shape (k, K)."""
        w = self.path.weight(clients, steps)[:, None]
        mixed: Floats = (1 - w) * self.origin[clients] + w * self.target[clients]
        return mixed

    def towards(self) -> Floats:
        """Shares at w = 1."""
        return self.target

    def changed(self, clients: Ints, steps: Ints) -> Bools:
        """Where the path says so, unless both distributions are the same."""
        apart: Bools = (self.origin[clients] != self.target[clients]).any(axis=1)
        return apart & self.path.changed(clients, steps)
