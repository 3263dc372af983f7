"""Drifts: what a schedule moves.

A drift is a configuration; bound to a pool and a timeline it is a course, a pure function of client
and step. What moves is a type::

    Drift
    ├── LabelDrift     which classes come            -> LabelCourse.shares
    ├── DomainDrift    which domains they come from  -> DomainCourse.shares
    ├── InputDrift     what the inputs look like     -> InputCourse.apply
    └── ConceptDrift   what they are called          -> ConceptCourse.relabel

All queries take clients and steps of shape (k,), in any order and company, and change nothing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.drift.pool import Pool
from driftfold.drift.schedule import Path
from driftfold.drift.timeline import Timeline
from driftfold.registry import family


@dataclass(frozen=True, eq=False)
class Course(ABC):
    """A drift bound to one stream.

    Attributes
    ----------
    path
        How far each client has moved, at any step.
    """

    path: Path

    def changed(self, clients: Ints, steps: Ints) -> Bools:
        """Whether a true change time of each client is at its step, shape (k,) each.

        There what this drift moves begins to move another way. Default: as the path says.
        """
        return self.path.changed(clients, steps)

    def changes(self, client: int) -> Ints:
        """Return the true change times of one client, from 1 to T-1, ascending."""
        every = np.arange(self.path.steps)
        return np.flatnonzero(self.changed(np.full(len(every), client), every))


class LabelCourse(Course):
    """Shares of the classes in clients' streams."""

    @abstractmethod
    def shares(self, clients: Ints, steps: Ints) -> Floats:
        """Probability of each class, shape (k, K), rows with sum 1."""

    @abstractmethod
    def towards(self) -> Floats:
        """Where each client's shares are at w = 1, shape (N, K)."""


class DomainCourse(Course):
    """Shares of the domains in clients' streams."""

    @abstractmethod
    def shares(self, clients: Ints, steps: Ints) -> Floats:
        """Probability of each domain, shape (k, domains), rows with sum 1."""


class InputCourse(Course):
    """What becomes of inputs."""

    @abstractmethod
    def apply(self, x: Array, rows: Ints, clients: Ints, steps: Ints) -> Array:
        """Inputs as they are met, of the shape and type of x, which is left as it is.

        x has shape (k, n, ...), a batch of each client at its step; `rows`, shape (k, n), are the
        numbers of these samples in the pool.
        """


class ConceptCourse(Course):
    """What becomes of labels."""

    @abstractmethod
    def relabel(self, labels: Ints, clients: Ints, steps: Ints) -> Ints:
        """Labels as they are meant at these steps, shape (k, n), for a batch of each client."""


@family("drift")
class Drift(ABC):
    """Configuration of a drift; derive from what says what moves."""

    part: ClassVar[str]
    """What moves, as change events name it."""

    @abstractmethod
    def bind(self, timeline: Timeline, pool: Pool) -> Course:
        """Return the course of all clients, addressed by the timeline's seed.

        Raises `CapabilityError` when the pool lacks what the drift needs, `SpecError` when its
        fields do not fit.
        """


class LabelDrift(Drift):
    """Label shift: the shares of the classes move, P(x | y) stays."""

    part = "labels"

    @abstractmethod
    def bind(self, timeline: Timeline, pool: Pool) -> LabelCourse:
        """Return the course of all clients."""


class DomainDrift(Drift):
    """The mixture of domains moves."""

    part = "domains"

    @abstractmethod
    def bind(self, timeline: Timeline, pool: Pool) -> DomainCourse:
        """Return the course of all clients."""


class InputDrift(Drift):
    """Covariate shift: P(x) moves, P(y | x) stays as far as a label can still be told."""

    part = "inputs"

    of_images: ClassVar[bool] = False
    """Whether it is defined on images with values in [0, 1] only."""

    @abstractmethod
    def bind(self, timeline: Timeline, pool: Pool) -> InputCourse:
        """Return the course of all clients."""


class ConceptDrift(Drift):
    """Concept drift: P(y | x) moves, P(x) stays."""

    part = "concept"

    @abstractmethod
    def bind(self, timeline: Timeline, pool: Pool) -> ConceptCourse:
        """Return the course of all clients."""
