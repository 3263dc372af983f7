"""A job: one experiment that was submitted to the service, and what has become of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from driftfold_workers.jobs.terms import USUAL, Terms
from driftfold_workers.jobs.usage import UNUSED, Usage


class State(StrEnum):
    """Where a job is in its life. The last three are final and never change."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELING = "canceling"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def final(self) -> bool:
        """Whether the job's life is over."""
        return self in (State.SUCCEEDED, State.FAILED, State.CANCELED)


@dataclass(frozen=True)
class Job:
    """What the store knows of a job.

    Attributes
    ----------
    id
        UUID version 7, so ids sort by time of submission.
    spec
        The complete specification as a table.
    needs
        Kinds the specification calls for, as "family:kind", sorted; only a worker that has them
        all may run it.
    state, reason
        Where it is, and why (for a failure: the one-line error; for a queued job: what it waits
        for).
    name
        For people.
    created
        Unix time in seconds at which it was accepted: that in its id, by the clock of whoever did.
    started, finished
        Unix times in seconds, by the store's clock; None while it has not happened.
    attempt, epoch
        Attempts begun so far, and the fencing token of the latest.
    worker
        Who runs it, or ran it last.
    seq
        Number of the last record in its log.
    rounds, horizon_rounds
        Server steps recorded so far, and wanted (None for a horizon in seconds).
    checkpoint
        Name of the snapshot that its log vouches for, or None.
    result
        The result table, once it has succeeded.
    due
        Unix time before which a queued job is not tried again, if it has to wait.
    pausing
        Whether it runs and is to be paused at the end of its round; or waits or runs, and is to be
        paused when the job store, which is away, is back.
    terms
        How it is to be run.
    group
        Id of the group that it belongs to, or "".
    origin
        The job that it was made from, and how: {"job": id, "how": "retry" or "clone"}; or None.
        With `records`, a number, it has taken over so many of that one's log.
    dead
        Whether it has failed because its attempts ran out: a further try may help.
    retried_by
        Id of the latest job that was made to try it again, or "". The archive tells.
    used
        What all attempts have used up, as of the last heartbeat.
    diverged
        Number of the first record that a later attempt computed differently, or None.
    held
        Whether it is queued and waits for other jobs.
    position
        Its place among the jobs that may run, from 1 on; None where that was not asked, or it is
        none of them.
    """

    id: str
    spec: Mapping[str, Any]
    needs: tuple[str, ...]
    state: State
    reason: str = ""
    name: str = ""
    created: float = 0.0
    started: float | None = None
    finished: float | None = None
    attempt: int = 0
    epoch: int = 0
    worker: str = ""
    seq: int = 0
    rounds: int = 0
    horizon_rounds: int | None = None
    checkpoint: str | None = None
    result: Mapping[str, Any] | None = None
    due: float | None = None
    pausing: bool = False
    terms: Terms = USUAL
    group: str = ""
    origin: Mapping[str, Any] | None = None
    dead: bool = False
    retried_by: str = ""
    diverged: int | None = None
    used: Usage = UNUSED
    held: bool = False
    position: int | None = None


@dataclass(frozen=True)
class Claim:
    """A job that a worker may run, until its lease ends.

    Attributes
    ----------
    job
        The job as it was claimed.
    epoch
        The fencing token: every write of this attempt carries it.
    """

    job: Job
    epoch: int


@dataclass(frozen=True)
class LifecycleEvent:
    """Something that happened to a job, beside its records.

    Attributes
    ----------
    number
        1, 2, 3, ... within the job.
    kind
        "submitted", "claimed", "resumed", "checkpoint", "lost", "released", "pause-requested",
        "paused", "unpaused", "cancel-requested", "diverged", "canceled", "succeeded" or "failed".
    time
        Unix time in seconds, by the store's clock.
    facts
        Attempt, epoch, worker, record number, reason: whatever belongs to it. `outcome` tells in
        words what became of an attempt that ended with the event, `retry` how many seconds the job
        waits for the next one, if it has to, `record` which record it computed differently.
    """

    number: int
    kind: str
    time: float
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class News:
    """What a job has told after two numbers, and how it stands: all of one moment.

    Attributes
    ----------
    records, events
        What follows in its log, and in the list of its lifecycle events; parts, if that is much.
    state, reason, seq
        As in `Job`. With a final state, no records up to `seq` missing and no events left, there
        is no more to come.
    """

    records: Sequence[bytes]
    events: Sequence[LifecycleEvent]
    state: State
    reason: str
    seq: int


@dataclass(frozen=True)
class Turns:
    """Jobs that have begun, or ended in the queue, after a moment.

    Attributes
    ----------
    jobs
        Their ids, each with its turn: the time in microseconds at which it first left the queue,
        or one more than the turn before it.
    complete
        Whether it is known of all turns after that moment.
    """

    jobs: Sequence[tuple[str, int]]
    complete: bool = True
