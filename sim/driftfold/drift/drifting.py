"""All drifts of one experiment together."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.drift.base import (
    ConceptCourse,
    Course,
    DomainCourse,
    Drift,
    InputCourse,
    InputDrift,
    LabelCourse,
)
from driftfold.drift.pool import Pool
from driftfold.drift.timeline import Timeline
from driftfold.errors import CapabilityError
from driftfold.registry import kind_of


@final
@dataclass(frozen=True)
class Change:
    """A true change time of one client.

    Attributes
    ----------
    step
        First step of what is new.
    what
        What begins to move, or to move another way: "labels", "domains", "inputs", "concept", with
        a number where there are several of one sort ("inputs.1").
    """

    step: int
    what: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class Drifting:
    """The courses of all drifts of one experiment.

    Attributes
    ----------
    prior
        Share of each class where nothing moves them, shape (K,).
    courses
        What was bound, by name ("labels", "inputs.1", ...), in the order of the specification.
    """

    prior: Floats
    courses: dict[str, Course]

    def shares(self, clients: Ints, steps: Ints) -> Floats:
        """Probability of each class, shape (k, K)."""
        for course in self.courses.values():
            if isinstance(course, LabelCourse):
                return course.shares(clients, steps)
        return np.tile(self.prior, (len(clients), 1))

    def average_shares(self, clients: int, steps: int) -> Floats:
        """Probability of each class over all steps of a stream, shape (N, K).

        What a client has on the whole, as participation that follows labels may know it.
        """
        everyone = np.arange(clients)
        total = np.zeros((clients, len(self.prior)))
        for step in range(steps):
            total += self.shares(everyone, np.full(clients, step))
        return total / steps

    def domain_shares(self, clients: Ints, steps: Ints) -> Floats | None:
        """Probability of each domain, shape (k, domains); None where no drift is about domains."""
        for course in self.courses.values():
            if isinstance(course, DomainCourse):
                return course.shares(clients, steps)
        return None

    def apply(self, x: Array, rows: Ints, clients: Ints, steps: Ints) -> Array:
        """Inputs as they are met, one drift after the other; see `InputCourse.apply`."""
        for course in self.courses.values():
            if isinstance(course, InputCourse):
                x = course.apply(x, rows, clients, steps)
        return x

    def relabel(self, labels: Ints, clients: Ints, steps: Ints) -> Ints:
        """Labels as they are meant, shape (k, n), one drift after the other."""
        for course in self.courses.values():
            if isinstance(course, ConceptCourse):
                labels = course.relabel(labels, clients, steps)
        return labels

    def weights(self, clients: Ints, steps: Ints) -> dict[str, Floats]:
        """How far each drift has moved each client, w of shape (k,) by name."""
        return {name: c.path.weight(clients, steps) for name, c in self.courses.items()}

    def changed(self, clients: Ints, steps: Ints) -> dict[str, Bools]:
        """Whether a true change time of each client is at its step, shape (k,), by what changes."""
        return {name: c.changed(clients, steps) for name, c in self.courses.items()}

    def changes(self, client: int) -> tuple[Change, ...]:
        """True change times of one client, ascending, with what changes."""
        at = defaultdict[int, list[str]](list)
        for name, course in self.courses.items():
            for step in course.changes(client):
                at[int(step)].append(name)
        return tuple(Change(step, tuple(at[step])) for step in sorted(at))


def bind(drifts: Sequence[Drift], timeline: Timeline, pool: Pool) -> Drifting:
    """Bind all drifts of an experiment; each draws numbers of its own.

    Inputs pass through the drifts of inputs in the order of `drifts`, labels through those of
    concepts. Raises `CapabilityError` for drifts that have no meaning together, or that ask of the
    pool what it has not.

    >>> from driftfold.drift.feature_noise import FeatureNoise
    >>> from driftfold.drift.labels import LabelMixture
    >>> from driftfold.drift.schedules import Step
    >>> from driftfold.rng import Seed
    >>> timeline = Timeline(clients=2, steps=100, seconds=60.0, seed=Seed(1))
    >>> drifts = LabelMixture(Step(at=(30, 60))), FeatureNoise(Step(at=(60,)))
    >>> drifting = bind(drifts, timeline, Pool(classes=3, prior=np.full(3, 1 / 3)))
    >>> [(change.step, change.what) for change in drifting.changes(client=0)]
    [(30, ('labels',)), (60, ('labels', 'inputs'))]
    """
    check_together(drifts)
    counts = defaultdict[str, int](int)
    courses: dict[str, Course] = {}
    for drift in drifts:
        number = counts[drift.part]
        counts[drift.part] += 1
        name = f"{drift.part}.{number}" if number else drift.part
        courses[name] = drift.bind(timeline.of(name), pool)
        if isinstance(drift, InputDrift):  # what the next one meets are no samples of the pool
            pool = replace(pool, inputs=None)
    return Drifting(pool.prior, courses)


def check_together(drifts: Sequence[Drift]) -> None:
    """Raise `CapabilityError` for drifts that have no meaning together.

    >>> from driftfold.drift.labels import LabelMixture
    >>> check_together([LabelMixture(), LabelMixture()])
    Traceback (most recent call last):
    driftfold.errors.CapabilityError: drifts 'labels' and 'labels' both say which labels come, ...
    """
    for part in ("labels", "domains"):
        kinds = [kind_of(drift) for drift in drifts if drift.part == part]
        if len(kinds) > 1:
            raise CapabilityError(
                f"drifts {' and '.join(map(repr, kinds))} both say which {part} come, of which "
                "a sample can have one only; leave out all but one"
            )
    before: InputDrift | None = None
    for drift in drifts:
        if not isinstance(drift, InputDrift):
            continue
        if drift.of_images and before is not None:
            raise CapabilityError(
                f"drift {kind_of(drift)!r} is defined on images with values in [0, 1], which they "
                f"need not be after {kind_of(before)!r}; put it first"
            )
        before = before if drift.of_images else drift
