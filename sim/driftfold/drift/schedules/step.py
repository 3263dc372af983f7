"""Drift by jumps at given steps."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated

import numpy as np
from annotated_types import Interval, MinLen

from driftfold.arrays import Floats
from driftfold.drift.schedule import Common, Path, Schedule
from driftfold.drift.timeline import Timeline
from driftfold.errors import SpecError
from driftfold.registry import register


@register("step")
@dataclass(frozen=True)
class Step(Schedule):
    """w jumps at given steps: sudden drift, and what comes back after it.

    Attributes
    ----------
    at
        Steps of the jumps, ascending; None: one in the middle of the stream. (100,) is the sudden
        and (100, 150) the recurrent drift of Chen et al., "Classifier Clustering and Feature
        Alignment for Federated Learning under Distributed Concept Drift" (FedCCFA, NeurIPS 2024).
    levels
        w before the first jump and after each; None: 0, 1, 0, 1 and so on.

    Examples
    --------
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=1, steps=200, seconds=60.0, seed=Seed(1))
    >>> path = Step(at=(100, 150), levels=(0.0, 1.0, 0.25)).path(timeline)
    >>> path.weight(np.zeros(4, int), np.array([99, 100, 149, 150])), path.changes(0)
    (array([0.  , 1.  , 1.  , 0.25]), array([100, 150]))
    """

    at: Annotated[tuple[float, ...], MinLen(1)] | None = None
    levels: tuple[Annotated[float, Interval(ge=0, le=1)], ...] | None = None

    def path(self, timeline: Timeline) -> Path:
        """Return the path; raises `SpecError` when the levels do not fit the jumps."""
        at = (float(timeline.steps // 2),) if self.at is None else self.at
        levels = np.arange(len(at) + 1.0) % 2 if self.levels is None else np.array(self.levels)
        if len(levels) != len(at) + 1 or any(a >= b for a, b in pairwise(at)):
            raise SpecError(
                f"schedule 'step' got jumps at {list(at)} and {len(levels)} levels; give the jumps "
                "in ascending order, and one level more than there are jumps"
            )
        return Common(timeline.steps, True, partial(_levels, np.array(at), levels))


def _levels(at: Floats, levels: Floats, steps: Floats) -> Floats:
    found: Floats = levels[np.searchsorted(at, steps, side="right")]
    return found
