"""The archive as those see it who use it: the API, and the recorder that fills it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from driftfold_api.models import Attempt
from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.jobs.job import Job, LifecycleEvent, News, State
from driftfold_workers.jobs.store import Conflict, Page, StoreError, UnknownJob
from driftfold_workers.jobs.terms import USUAL, Terms

if TYPE_CHECKING:
    from driftfold_api.archive.groups import Groups


class ArchiveError(StoreError):
    """The archive cannot be used as it is: its address, its version."""


class Deleted(UnknownJob):
    """The job was here, and a user had it deleted."""


class KeyReused(Conflict):
    """An idempotency key was used for another request."""


class Overtaken(StoreError):
    """Another recorder has taken over: this one must write nothing more."""


class QueueFull(StoreError):
    """So many jobs are queued that no more are accepted."""


class UnknownPrerequisite(StoreError):
    """A job is to wait for one that does not exist."""


@dataclass(frozen=True)
class Wanted:
    """A job to accept.

    Attributes
    ----------
    spec, needs, name, horizon_rounds, terms, group, origin
        As in `Job`.
    log_of
        Id of a job that failed or was canceled, whose records and snapshot this one goes on from.
    delay
        Seconds from the moment in which the job is made to `terms.not_before`, in its place.
    """

    spec: Mapping[str, Any]
    needs: Sequence[str]
    name: str = ""
    horizon_rounds: int | None = None
    terms: Terms = USUAL
    group: str = ""
    origin: Mapping[str, Any] | None = None
    log_of: str = ""
    delay: float | None = None


class Wish(StrEnum):
    """What is to be done to a job in the job store, as soon as that answers."""

    CANCEL = "cancel"
    DELETE = "delete"
    PAUSE = "pause"
    RESUME = "resume"


@dataclass(frozen=True)
class Position:
    """How far a job is recorded: numbers of its last record and its last lifecycle event."""

    seq: int
    events: int


class Archive(ABC):
    """What was accepted and what happened. It follows the job store and decides no claims.

    A job is here before it is queued, and stays when the job store has forgotten it. What is told
    of a job is what has been recorded: `seq` is the number of its last record here, and a final
    state means that all of its log is here. Implementations pass one conformance suite.
    """

    @property
    @abstractmethod
    def id(self) -> str:
        """What the job store knows the archive by; it is made with the tables."""

    @property
    @abstractmethod
    def groups(self) -> "Groups":
        """The groups of jobs."""

    # -- users --------------------------------------------------------------------------------

    @abstractmethod
    async def accept(
        self,
        wanted: Wanted,
        *,
        key: str | None = None,
        instead_of: str = "",
        sent: bool = True,
        room: bool = True,
    ) -> tuple[Job, bool]:
        """Make a job, or return the one that the idempotency key has made; tell whether it is new.

        `sent` says that the caller queues a new one in the job store itself; see `send`.
        When this returns, the job is on disk. A key is kept for a day. It makes another job when
        its first was deleted, has failed, or is the one named by `instead_of` (which failed, but
        is not recorded so yet). A key that was used for another request: `KeyReused`.
        A log to go on from whose job is not recorded as failed or canceled: `Conflict`. Without
        `room` no new job is made: `QueueFull`. A job that is to wait for one that is not here:
        `UnknownPrerequisite`.
        """

    @abstractmethod
    async def get(self, job: str) -> Job:
        """Return a job as it is recorded; raises `UnknownJob`."""

    @abstractmethod
    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        state: State | None = None,
        dead: bool = False,
    ) -> Page:
        """Return jobs, newest first. A cursor is the id of the last job that was listed."""

    @abstractmethod
    async def retries(self, jobs: Sequence[str]) -> Mapping[str, str]:
        """Return by which jobs some were tried again; those that were not are left out."""

    @abstractmethod
    async def read(self, job: str, *, after: int = 0, limit: int = 1000) -> Sequence[bytes]:
        """Return records after number `after`, in order."""

    @abstractmethod
    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Return lifecycle events of a job after number `after`."""

    @abstractmethod
    async def attempts(self, job: str) -> tuple[Sequence[Attempt], int]:
        """Return the attempts at a job, and the number of the last event that is told in them."""

    @abstractmethod
    async def news(
        self, job: str, *, after: int = 0, events_after: int = 0, limit: int = 1000
    ) -> News:
        """Return records and lifecycle events after two numbers, of one moment."""

    @abstractmethod
    async def cancel(self, job: str) -> Job:
        """Cancel a job for want of a job store; one that is over: `Conflict`.

        One that was never sent there is canceled when this returns. Any other is "canceling" until
        it is recorded otherwise, and the wish is kept until it is granted.
        """

    @abstractmethod
    async def pause(self, job: str) -> Job:
        """Pause a job for want of a job store; one that is canceled or over: `Conflict`.

        One that was never sent there is paused when this returns. Of any other the wish is kept,
        in place of one to resume it.
        """

    @abstractmethod
    async def resume(self, job: str) -> Job:
        """Take back a pause for want of a job store; one that is not paused: `Conflict`.

        One that was never sent there is queued when this returns. Of any other the wish is kept,
        in place of one to pause it.
        """

    @abstractmethod
    async def wish(self, job: str) -> Wish | None:
        """Return what is wished of a job."""

    @abstractmethod
    async def delete(self, job: str) -> None:
        """Forget a job, its log and its idempotency key, in whatever state it is recorded.

        It is gone for all who ask. Its rows stay, with the wish, until they are buried.
        """

    # -- the recorder -------------------------------------------------------------------------

    @abstractmethod
    async def lead(self) -> int:
        """Return the fencing token of a new recorder; all earlier ones may write no more."""

    @abstractmethod
    async def positions(self, jobs: Sequence[str]) -> Mapping[str, Position]:
        """Tell how far jobs are recorded; those that are not here are left out."""

    @abstractmethod
    async def record(self, fence: int, excerpts: Sequence[Excerpt]) -> None:
        """Record what jobs have told, in one step; what is here already stays as it is.

        Of a job that is not here nothing is recorded, unless its excerpt is `whole`: then it is
        adopted, and records before the first one count as lost. A gap raises `StoreError`, a
        recorder that is no more in charge `Overtaken`.
        """

    @abstractmethod
    async def unfinished(self, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return ids of jobs that are not recorded as over, oldest first, after one of them."""

    @abstractmethod
    async def counts(self) -> Mapping[State, int]:
        """Tell how many jobs are recorded in each state."""

    @abstractmethod
    async def send(self, jobs: Sequence[str]) -> Sequence[str]:
        """Take note that jobs are about to be queued in the job store; return those that may be.

        One that was canceled or deleted may not; one that was paused is queued as such.
        """

    @abstractmethod
    async def wishes(self, limit: int = 1000) -> Sequence[tuple[str, Wish]]:
        """Return what is wished of jobs, the oldest job first."""

    @abstractmethod
    async def grant(self, job: str, wish: Wish) -> None:
        """Forget what was wished of a job, unless that is another thing by now: it is done."""

    @abstractmethod
    async def bury(self, job: str) -> bool:
        """Remove rows of a deleted job which the job store does not know; whether there are more.

        A few thousand at a time, so that nobody has to wait for long.
        """

    @abstractmethod
    async def retire(self, before: float | None, now: float) -> bool:
        """Delete some jobs that were over before a time, and keys that are older than a day.

        Returns whether there may be more. None keeps all jobs.
        """

    @abstractmethod
    async def states(self, jobs: Sequence[str]) -> Mapping[str, State]:
        """Return the states of jobs as they are recorded; those not here are left out."""

    @abstractmethod
    async def ping(self) -> None:
        """Raise `StoreUnreachable` unless the archive answers, and takes writes."""
