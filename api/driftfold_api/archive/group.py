"""Groups as those see them who use the archive: many jobs that one request has made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftfold_api.archive.base import Wanted
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import StoreError

NOBODY = -1
"""In place of a child's number."""


class UnknownGroup(StoreError):
    """No group has that id."""


@dataclass(frozen=True)
class GroupWanted:
    """A group to accept.

    Attributes
    ----------
    name, spec, sweep, stop
        As in `Group`.
    children
        The jobs to make, in order, and the point of each.
    """

    name: str
    spec: Mapping[str, Any]
    sweep: Mapping[str, Any]
    stop: Mapping[str, Any] | None
    children: Sequence[tuple[Mapping[str, Any], Wanted]]


@dataclass(frozen=True)
class Tally:
    """How far the jobs of a group are recorded.

    Attributes
    ----------
    states
        Jobs by state.
    rounds, horizon_rounds
        Sums over all jobs; the latter is None when one has a horizon in seconds.
    """

    states: Mapping[State, int] = field(default_factory=dict)
    rounds: int = 0
    horizon_rounds: int | None = None


@dataclass(frozen=True)
class Group:
    """Many jobs that one request has made.

    Attributes
    ----------
    id, name, created
        As of a job.
    spec, sweep, stop
        What was asked for: the specification that all have in common, the points, the rule that
        stops some early (or None).
    size
        Jobs that were made.
    ended
        Why its jobs are canceled that are not over, or "".
    spared
        Number of the child that goes on all the same, or `NOBODY`.
    """

    id: str
    name: str
    created: float
    spec: Mapping[str, Any]
    sweep: Mapping[str, Any]
    stop: Mapping[str, Any] | None
    size: int
    ended: str = ""
    spared: int = NOBODY


@dataclass(frozen=True)
class Child:
    """One job of a group: its number from 1 on, its point, and why it was stopped early, if so."""

    number: int
    point: Mapping[str, Any]
    stopped: str
    judged: int
    job: Job
