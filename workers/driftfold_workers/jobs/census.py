"""The census: how much there is of what in the job store, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from driftfold_workers.jobs.job import State


class Rank(StrEnum):
    """Priorities as they are counted: above 0, 0, below 0."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


@dataclass(frozen=True)
class Line:
    """Jobs of one rank that may begin as soon as a worker is free.

    Attributes
    ----------
    depth
        How many.
    oldest
        Seconds since the one at their head was submitted; 0 when there is none.
    """

    depth: int = 0
    oldest: float = 0.0


@dataclass(frozen=True)
class Census:
    """What the job store holds.

    Attributes
    ----------
    jobs
        How many are in each state; of those that are over only what is not forgotten yet.
    lines
        The queue, by rank.
    delayed
        Queued jobs that wait for a time.
    held
        Queued jobs that wait for others.
    running
        Jobs that somebody runs.
    dead
        Jobs that have failed because their attempts ran out, and are not forgotten yet.
    slots
        Jobs that the workers which are there can run at the same time.
    workers
        How many of them there are.
    unrecorded
        Jobs that have told something which the archive does not have yet.
    ended
        Jobs whose end was recorded in the last `WITHIN` seconds.
    recorder
        Name of the process that fills the archive; "" when none does.
    counts
        How often things have happened: see `COUNTS`.
    """

    jobs: Mapping[State, int]
    lines: Mapping[Rank, Line]
    delayed: int
    held: int
    running: int
    dead: int
    slots: int
    workers: int
    unrecorded: int
    ended: int
    recorder: str
    counts: Mapping[str, float]


WITHIN = 600.0
COUNTS: Mapping[str, str] = {
    "records": "records that were stored",
    "rounds": "server steps that were stored",
    "virtual": "virtual seconds that jobs have gone through",
    "dropped": "clients that left before they had answered",
    "fenced": "writes that were refused because the attempt had been given up",
    "expired": "leases that were over before they were renewed",
    "retried": "attempts that counted and were followed by another one",
}
"""Counts that are one number. Others are one for each kind: `event:` and a kind of lifecycle event,
`outcome:` and what became of an attempt. They grow only, in the same step as what they count, and
begin anew when the job store is lost."""


def counts_of(counts: Mapping[str, float], prefix: str) -> Mapping[str, float]:
    """Return the counts of one family, by kind.

    >>> counts_of({"event:claimed": 2.0, "rounds": 7.0}, "event")
    {'claimed': 2.0}
    """
    return {
        name.partition(":")[2]: count
        for name, count in counts.items()
        if name.startswith(f"{prefix}:")
    }


def read_counts(raw: Mapping[bytes, bytes]) -> Mapping[str, float]:
    """Return counts as Redis gives them, and 0 for what has not happened yet."""
    found: dict[str, Any] = dict.fromkeys(COUNTS, 0.0)
    return {**found, **{name.decode(): float(value) for name, value in raw.items()}}
