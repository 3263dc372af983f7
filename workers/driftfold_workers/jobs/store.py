"""The job store: what the service knows, and the only authority on who runs what."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from driftfold.errors import DriftfoldError
from driftfold_workers.jobs.job import Claim, Job, LifecycleEvent, News, State, Turns
from driftfold_workers.jobs.terms import USUAL, Terms
from driftfold_workers.jobs.usage import Usage


class StoreError(DriftfoldError):
    """The store cannot do what was asked."""


class StoreUnreachable(StoreError):
    """The store does not answer. Nothing is known of what was asked: it may have been done."""


class ForeignStore(StoreUnreachable):
    """The store belongs to another archive than the one that would be recorded in."""


class StoreRefuses(StoreUnreachable):
    """The store answers but takes no writes now, for want of room say. It has done nothing.

    Attributes
    ----------
    words
        Why, in its own words.
    what
        Which store it is.
    """

    def __init__(self, message: str, words: str = "", what: str = "the job store") -> None:
        super().__init__(message)
        self.words = words or message
        self.what = what


class UnknownJob(StoreError):
    """No job has that id."""


class Fenced(StoreError):
    """The attempt was given up: another one runs the job, or nobody does. Stop writing."""


class Trimmed(StoreError):
    """The store has what is asked for no longer: it is in the archive.

    Attributes
    ----------
    first
        Number of the first record that the store has, or will have.
    """

    def __init__(self, message: str, first: int) -> None:
        super().__init__(message)
        self.first = first


class Conflict(StoreError):
    """The job is not in a state that allows this, or a key was used for something else."""


@dataclass(frozen=True)
class Page:
    """Part of a list: jobs, newest first, and the cursor of the next part (None at the end)."""

    jobs: Sequence[Job]
    cursor: str | None


Beat = Literal["ok", "pause", "cancel", "lost"]
"""What a heartbeat learns: go on, stop at the end of the round (twice), or stop at once."""

NO_SIGN = "its worker gave no sign for the length of its lease"
"""Why a job was taken back whose lease was over; the outcome of that attempt is "lease lost"."""


class Jobs(ABC):
    """What users do to jobs, once they are submitted."""

    @abstractmethod
    async def get(self, job: str) -> Job:
        """Return a job; raises `UnknownJob`."""

    @abstractmethod
    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        state: State | None = None,
        dead: bool = False,
    ) -> Page:
        """Return jobs, newest first. A cursor is the id of the last job that was listed.

        `state` picks those in one state, `dead` those that failed because their attempts ran out.
        """

    @abstractmethod
    async def cancel(self, job: str) -> Job:
        """Cancel a waiting job at once, a running one by its worker. A final one: `Conflict`."""

    @abstractmethod
    async def pause(self, job: str) -> Job:
        """Take a queued job out of the queue; have a running one stop at the end of its round.

        The latter keeps its snapshot, and the attempt does not count. It is `paused` then, until
        `resume` or `cancel`. A job that is canceled or over: `Conflict`.
        """

    @abstractmethod
    async def resume(self, job: str) -> Job:
        """Put a paused job in its place in the queue again. One that is not paused: `Conflict`."""

    @abstractmethod
    async def delete(self, job: str) -> bool:
        """Forget a final job and its log; any other: `Conflict`.

        Returns False where that is certain, but happens later.
        """

    @abstractmethod
    async def read(
        self, job: str, *, after: int = 0, limit: int = 1000, wait: float = 0.0
    ) -> Sequence[bytes]:
        """Records after number `after`, in order, each one JSON text.

        With none there yet, waits up to `wait` seconds for one, or for the job's end. Where the
        first is in the archive only: `Trimmed`.
        """

    @abstractmethod
    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Lifecycle events of a job after number `after`; `Trimmed` as in `read`."""

    @abstractmethod
    async def turns(self, *, after: int = 0, limit: int = 1000) -> Turns:
        """Return jobs that first left the queue after turn `after`, in that order."""

    @abstractmethod
    async def active(self) -> tuple[int, Sequence[str]]:
        """Return the last turn, and ids of the jobs that have had theirs and are not over."""

    @abstractmethod
    async def news(
        self,
        job: str,
        *,
        after: int = 0,
        events_after: int = 0,
        limit: int = 1000,
        wait: float = 0.0,
    ) -> News:
        """Return records after `after` and lifecycle events after `events_after`, of one moment.

        At most `limit` of each. With none of either yet, waits up to `wait` seconds for one, or for
        the job's end. A job that is deleted meanwhile: `UnknownJob`; where the first record is in
        the archive only: `Trimmed`.
        """


class JobStore(Jobs):
    """Jobs, leases and logs. All times are the store's own; every write of an attempt is fenced.

    Implementations pass one conformance suite.
    """

    @abstractmethod
    async def submit(
        self,
        spec: Mapping[str, Any],
        needs: Sequence[str],
        *,
        name: str = "",
        horizon_rounds: int | None = None,
        terms: Terms = USUAL,
    ) -> Job:
        """Queue a new job, and return it."""

    @abstractmethod
    async def enqueue(self, job: Job, *, events: int = 0) -> bool:
        """Queue a job that was accepted elsewhere, unless it is paused; False if it is known.

        It keeps its id and goes on from what is recorded of it: records up to `job.seq`, lifecycle
        events up to `events`, its checkpoint, attempts and epoch.
        """

    @abstractmethod
    async def announce(self, worker: str, kinds: Sequence[str], slots: int, ttl: float) -> None:
        """Tell that a worker is there for the next `ttl` seconds, and which kinds it has."""

    @abstractmethod
    async def workers(self) -> Sequence[Mapping[str, Any]]:
        """Workers that are there: name, kinds, slots, jobs running, seconds since the last sign."""

    @abstractmethod
    async def claim(
        self, worker: str, kinds: Sequence[str], lease: float, wait: float = 0.0
    ) -> Claim | None:
        """Take the oldest queued job whose needs `kinds` covers; wait up to `wait` seconds."""

    @abstractmethod
    async def heartbeat(
        self, job: str, epoch: int, lease: float, used: Usage | None = None
    ) -> Beat:
        """Renew a lease; take down what the job has used up, for the attempts that follow."""

    @abstractmethod
    async def append(
        self,
        job: str,
        epoch: int,
        first: int,
        records: Sequence[bytes],
        *,
        checkpoint: str | None = None,
        rounds: int | None = None,
    ) -> int:
        """Append records `first`, `first` + 1, ...; return the number of the last one stored.

        One atomic step with the checkpoint pointer and the round count. Records that are already
        stored are dropped; a gap raises `StoreError`; a stale epoch raises `Fenced`.
        """

    @abstractmethod
    async def finish(
        self,
        job: str,
        epoch: int,
        state: State,
        *,
        reason: str = "",
        result: Mapping[str, Any] | None = None,
        outcome: str = "",
        used: Usage | None = None,
    ) -> None:
        """End the job in a final state. A stale epoch raises `Fenced`.

        `outcome` tells in words what became of the attempt; it goes into the lifecycle event.
        `used` is what the job has used up in all.
        """

    @abstractmethod
    async def release(
        self,
        job: str,
        epoch: int,
        *,
        reason: str,
        counted: bool,
        attempts: int,
        back_off: bool = False,
        outcome: str = "",
        used: Usage | None = None,
    ) -> State:
        """Give the job back to the head of the queue.

        `counted` is False when the attempt is not the job's fault (a drain): it is given back.
        After `attempts` counted attempts the job fails with `reason`. Returns the new state.

        With `back_off` it may have to wait: not at all after the first attempt in a row that
        recorded nothing new, then half a second, one, two and so on up to half a minute. Its reason
        and the lifecycle event say so (`retry`). `outcome` and `used` are as in `finish`.
        """

    @abstractmethod
    async def reap(self, attempts: int) -> Sequence[str]:
        """Take back every job whose lease is over, as `release` does, with back-off.

        Also lets those jobs begin again that have waited long enough. Returns the jobs taken back.
        """

    @abstractmethod
    async def uncleared(self, limit: int, pause: float) -> Sequence[str]:
        """Return jobs that have run and ended more than a lease ago, and are not `cleared`.

        They are returned to nobody else for `pause` seconds.
        """

    @abstractmethod
    async def cleared(self, job: str) -> None:
        """Take note that of a job that is over nothing is left that only a run needs."""
