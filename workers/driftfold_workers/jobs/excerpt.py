"""An excerpt: what the log of a job holds after what somebody has of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from driftfold_workers.jobs.job import Job, LifecycleEvent


@dataclass(frozen=True)
class Excerpt:
    """A job, and what follows two numbers in its log: all of one moment.

    Attributes
    ----------
    job
        The job at that moment.
    first
        Number of the first of the records.
    records
        What follows in its log; a part, if that is much.
    events
        All lifecycle events that follow.
    whole
        Nothing is known of what went before, and it is nowhere to be had.

    Examples
    --------
    >>> from driftfold_workers.jobs.job import State
    >>> told = Excerpt(Job("0192", {}, (), State.RUNNING, seq=9), 4, [b"{}", b"{}"], [])
    >>> told.last, told.current
    (5, False)
    """

    job: Job
    first: int
    records: Sequence[bytes]
    events: Sequence[LifecycleEvent]
    whole: bool = False

    @property
    def last(self) -> int:
        """Number of the last record that is known with this excerpt."""
        return self.first + len(self.records) - 1

    @property
    def current(self) -> bool:
        """Whether no record was left out."""
        return self.last >= self.job.seq
