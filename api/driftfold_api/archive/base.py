"""The archive as those see it who use it: the API, and the recorder that fills it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftfold_workers.excerpt import Excerpt
from driftfold_workers.job import Job, LifecycleEvent, News, State
from driftfold_workers.store import Page, StoreError
from driftfold_workers.terms import USUAL, Terms


class ArchiveError(StoreError):
    """The archive cannot be used as it is: its address, its version."""


class Overtaken(StoreError):
    """Another recorder has taken over: this one must write nothing more."""


@dataclass(frozen=True)
class Wanted:
    """A job to accept.

    Attributes
    ----------
    spec, needs, name, horizon_rounds, terms, group, origin
        As in `Job`.
    delay
        Seconds from the moment in which the job is made to `terms.not_before`, in its place.
    """

    spec: Mapping[str, Any]
    needs: Sequence[str]
    name: str = ""
    horizon_rounds: int | None = None
    terms: Terms = USUAL
    group: str = ""
    origin: Mapping[str, str] | None = None
    delay: float | None = None


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

    # -- users --------------------------------------------------------------------------------

    @abstractmethod
    async def accept(
        self, wanted: Wanted, *, key: str | None = None, instead_of: str = ""
    ) -> tuple[Job, bool]:
        """Make a job, or return the one that the idempotency key has made; tell whether it is new.

        When this returns, the job is on disk. A key is kept for a day. It makes another job when
        its first was deleted, has failed, or is the one named by `instead_of` (which failed, but
        is not recorded so yet). A key that was used for another request: `Conflict`.
        """

    @abstractmethod
    async def get(self, job: str) -> Job:
        """Return a job as it is recorded; raises `UnknownJob`."""

    @abstractmethod
    async def list(
        self, *, limit: int = 50, cursor: str | None = None, state: State | None = None
    ) -> Page:
        """Return jobs, newest first. A cursor is the id of the last job that was listed."""

    @abstractmethod
    async def read(self, job: str, *, after: int = 0, limit: int = 1000) -> Sequence[bytes]:
        """Return records after number `after`, in order."""

    @abstractmethod
    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Return lifecycle events of a job after number `after`."""

    @abstractmethod
    async def news(
        self, job: str, *, after: int = 0, events_after: int = 0, limit: int = 1000
    ) -> News:
        """Return records and lifecycle events after two numbers, of one moment."""

    @abstractmethod
    async def delete(self, job: str) -> None:
        """Forget a job, its log and its idempotency key, in whatever state it is recorded."""

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

        Of a job that is not here nothing is recorded. A gap raises `StoreError`, a recorder that
        is no more in charge `Overtaken`.
        """

    @abstractmethod
    async def unfinished(self, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return ids of jobs that are not recorded as over, oldest first, after one of them."""

    @abstractmethod
    async def counts(self) -> Mapping[State, int]:
        """Tell how many jobs are recorded in each state."""

    @abstractmethod
    async def ping(self) -> None:
        """Raise `StoreUnreachable` unless the archive answers, and takes writes."""
