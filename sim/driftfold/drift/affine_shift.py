"""Inputs whose scale and origin move."""

from dataclasses import dataclass, field
from typing import Annotated, final

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, Ints, along
from driftfold.drift.base import InputCourse, InputDrift
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Schedule
from driftfold.drift.schedules.linear import Linear
from driftfold.drift.timeline import Timeline
from driftfold.lanes import in_whole_vectors
from driftfold.registry import register
from driftfold.rng import Stream


@register("affine_shift")
@dataclass(frozen=True)
class AffineShift(InputDrift):
    """Each number x_j of an input becomes (1 + w (a_j - 1)) x_j + w b_j: sensors out of tune.

    a_j = exp(N(0, spread^2)) and b_j ~ N(0, shift^2) are drawn for each client and place j. For
    vectors of features, such as embeddings, for which corruptions of pictures mean nothing.

    Attributes
    ----------
    schedule
        How w moves.
    shift
        Standard deviation of b_j, in units of the inputs.
    spread
        Standard deviation of log a_j.
    common
        Whether all clients have the same a and b.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=2, steps=11, seconds=60.0, seed=Seed(1))
    >>> course = AffineShift().bind(timeline, Pool(2, prior=np.full(2, 0.5)))
    >>> x, rows = np.zeros((2, 1, 3)), np.zeros((2, 1), int)
    >>> course.apply(x, rows, np.arange(2), np.array([5, 10])).round(2).tolist()
    [[[-0.08, -0.65, 0.47]], [[-0.34, 0.29, 0.72]]]
    """

    schedule: Schedule = field(default_factory=Linear)
    shift: Annotated[float, Ge(0)] = 0.5
    spread: Annotated[float, Ge(0)] = 0.0
    common: bool = False

    def bind(self, timeline: Timeline, pool: Pool) -> InputCourse:
        """Return the course of all clients."""
        path = self.schedule.path(timeline)
        return Shifting(path, self.shift, self.spread, self.common, timeline.stream("affine"))


@final
@dataclass(frozen=True, eq=False)
class Shifting(InputCourse):
    """A growing affine map of each client.

    Attributes
    ----------
    shift, spread, common
        As in `AffineShift`.
    draws
        Stream of the maps, addressed by client.
    """

    shift: float
    spread: float
    common: bool
    draws: Stream

    def apply(self, x: Array, rows: Ints, clients: Ints, steps: Ints) -> Array:
        """Inputs under the clients' maps."""
        inner = x.shape[2:]
        count = int(np.prod(inner))
        who = np.zeros_like(clients) if self.common else clients
        normal = self.draws.normal(who, 0, 2 * count).reshape(len(clients), 2, 1, *inner)
        w = along(self.path.weight(clients, steps), normal[:, 0])
        scale = 1 + w * (in_whole_vectors(np.exp, self.spread * normal[:, 0]) - 1)
        return (scale * x + w * self.shift * normal[:, 1]).astype(x.dtype)
