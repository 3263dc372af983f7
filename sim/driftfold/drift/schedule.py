"""Schedules: how far a client's data have moved, at any step."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.drift.timeline import Timeline
from driftfold.registry import family

_REST = 1e-12
"""A weight that moves by less in a step is at rest: what is beyond is rounding."""

Steps = Ints | Floats
"""Steps of a stream; of a client's own clock also between whole ones, and below 0."""


@dataclass(frozen=True, eq=False)
class Path(ABC):
    """The weight w of all clients at all steps: 0 is where data come from, 1 where they go.

    A pure function of client and step: queries come in any order and company, and change nothing.

    Attributes
    ----------
    steps
        Number of steps T.
    abrupt
        Whether w moves by jumps only.
    """

    steps: int
    abrupt: bool

    @abstractmethod
    def weight(self, clients: Ints, steps: Steps) -> Floats:
        """Weight w in [0, 1] of each client at its step, shape (k,) each.

        Beyond 0 .. T-1 it is where a client's own clock may be: before its start, or ahead.
        """

    def changed(self, clients: Ints, steps: Ints) -> Bools:
        """Whether a true change time of each client is at its step, shape (k,) each.

        Step t is one if data of step t are the first of a new kind. Where w moves by jumps these
        are all jumps, w(t) other than w(t-1). Else t begins a run of steps that all go up, or all
        down: where a drift begins, and where it turns. What ends in a rest is no change.
        """
        w, before = self.weight(clients, steps), self.weight(clients, np.maximum(steps - 1, 0))
        if self.abrupt:
            return np.not_equal(w, before)
        earlier = self.weight(clients, np.maximum(steps - 2, 0))
        way = _way(w - before)
        turned: Bools = (way != 0) & (way != _way(before - earlier))
        return turned

    def changes(self, client: int) -> Ints:
        """Return the true change times of one client, from 1 to T-1, ascending."""
        return np.flatnonzero(self.changed(np.full(self.steps, client), np.arange(self.steps)))


def _way(moved: Floats) -> Floats:
    return np.where(np.abs(moved) > _REST, np.sign(moved), 0.0)


@family("schedule")
class Schedule(ABC):
    """Configuration of a path."""

    @abstractmethod
    def path(self, timeline: Timeline) -> Path:
        """Return the path of all clients of `timeline`, addressed by its seed."""


@final
@dataclass(frozen=True, eq=False)
class Common(Path):
    """One course of w for all clients.

    Attributes
    ----------
    course
        w by step, elementwise, for any step.
    """

    course: Callable[[Floats], Floats]

    def weight(self, clients: Ints, steps: Steps) -> Floats:
        """The course at these steps."""
        return self.course(np.asarray(steps, np.float64))
