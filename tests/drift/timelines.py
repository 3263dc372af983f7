"""Timelines and pools that the tests of drift share."""

import numpy as np

from driftfold.arrays import Floats
from driftfold.drift import Path, Pool, Schedule, Timeline
from driftfold.rng import Seed


def timeline(
    clients: int = 20, steps: int = 100, seconds: float = 3600.0, seed: int = 1
) -> Timeline:
    return Timeline(clients, steps, seconds, Seed(seed))


def pool(classes: int = 10, **described: object) -> Pool:
    return Pool(classes, np.full(classes, 1 / classes), **described)  # type: ignore[arg-type]


def course(path: Path, client: int = 0) -> Floats:
    """W of one client at all steps."""
    return path.weight(np.full(path.steps, client), np.arange(path.steps))


def weights(schedule: Schedule, **of: int) -> Floats:
    return course(schedule.path(timeline(**of)))
