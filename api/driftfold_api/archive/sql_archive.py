"""The archive in SQL."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from driftfold_api.archive import (
    accepting,
    pausing,
    reading,
    recording,
    repeating,
    retention,
    wishing,
)
from driftfold_api.archive.base import Archive, ArchiveError, Position, Wanted, Wish
from driftfold_api.archive.database import Database, Work
from driftfold_api.archive.groups import Groups
from driftfold_api.archive.migrating import migrate
from driftfold_api.archive.postgres import Postgres
from driftfold_api.archive.sqlite import Sqlite
from driftfold_api.models import Attempt
from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.jobs.job import Job, LifecycleEvent, News, State
from driftfold_workers.jobs.store import Page, StoreError, StoreRefuses, StoreUnreachable

T = TypeVar("T")

KINDS: Mapping[str, type[Sqlite] | type[Postgres]] = {
    "sqlite": Sqlite,
    "postgresql": Postgres,
    "postgresql+asyncpg": Postgres,
}


class SqlArchive(Archive):
    """Jobs and their logs in SQLite or PostgreSQL."""

    def __init__(self, url: str) -> None:
        try:
            parts = make_url(url)
        except ArgumentError:
            parts = None
        if parts is None or parts.drivername not in KINDS:
            raise ArchiveError(
                f"cannot keep the archive at {url.partition('://')[0]!r}://...; give "
                "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
            )
        self._place = parts.render_as_string(hide_password=True)
        self._database: Database = KINDS[parts.drivername](parts)
        self._id = ""

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator[Self]:
        """Open the archive at a URL, and bring its tables up to date.

        Raises
        ------
        ArchiveError
            The URL is none, or a later version of driftfold has used the archive.
        """
        archive = cls(url)
        try:
            await archive._write(partial(migrate, database=archive._database))
            archive._id = await archive._read(reading.identity_of)
            yield archive
        finally:
            await archive._database.close()

    @property
    def id(self) -> str:
        """What the job store knows the archive by."""
        return self._id

    @property
    def groups(self) -> Groups:
        """The groups of jobs."""
        return Groups(self._database, self._read, self._write)

    async def accept(
        self,
        wanted: Wanted,
        *,
        key: str | None = None,
        instead_of: str = "",
        sent: bool = True,
        room: bool = True,
    ) -> tuple[Job, bool]:
        """Make a job, or return the one that the key has made; it is on disk then."""

        def accept(connection: Connection) -> tuple[Job, bool]:
            if key is None:
                job, new = accepting.make(connection, wanted, sent, room), True
            else:
                job, new = accepting.make_once(
                    connection, self._database, wanted, key, instead_of, sent, room
                )
            if new:
                repeating.mark(connection, job)
            return job, new

        with self._our_errors():
            return await self._database.join(accept)

    async def get(self, job: str) -> Job:
        """Return a job as it is recorded."""
        return await self._read(partial(reading.job_of, job=job))

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        state: State | None = None,
        dead: bool = False,
    ) -> Page:
        """Return jobs, newest first."""
        page = partial(reading.page_of, limit=limit, cursor=cursor, state=state, dead=dead)
        return await self._read(page)

    async def retries(self, jobs: Sequence[str]) -> Mapping[str, str]:
        """Return by which jobs some were tried again."""
        return await self._read(partial(repeating.retries_of, jobs_=jobs))

    async def read(self, job: str, *, after: int = 0, limit: int = 1000) -> Sequence[bytes]:
        """Return records after number `after`, in order."""

        def read(connection: Connection) -> Sequence[bytes]:
            known = reading.place_of(connection, job)
            return reading.records_of(connection, known, after, limit)

        return await self._read(read)

    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Return lifecycle events of a job after number `after`."""

        def read(connection: Connection) -> Sequence[LifecycleEvent]:
            reading.place_of(connection, job)
            return reading.events_of(connection, job, after, limit)

        return await self._read(read)

    async def attempts(self, job: str) -> tuple[Sequence[Attempt], int]:
        """Return the attempts at a job, and the number of the last event that is told in them."""
        return await self._read(partial(reading.attempts_at, job=job))

    async def news(
        self, job: str, *, after: int = 0, events_after: int = 0, limit: int = 1000
    ) -> News:
        """Return records and lifecycle events after two numbers, of one moment."""

        def read(connection: Connection) -> News:
            known = reading.place_of(connection, job)
            return News(
                records=reading.records_of(connection, known, after, limit),
                events=reading.events_of(connection, job, events_after, limit),
                state=State(known.state),
                reason=known.reason,
                seq=known.seq,
            )

        return await self._read(read)

    async def cancel(self, job: str) -> Job:
        """Cancel a job for want of a job store."""
        return await self._write(partial(wishing.cancel, job=job))

    async def pause(self, job: str) -> Job:
        """Pause a job for want of a job store."""
        return await self._write(partial(pausing.pause, job=job))

    async def resume(self, job: str) -> Job:
        """Take back a pause for want of a job store."""
        return await self._write(partial(pausing.resume, job=job))

    async def wish(self, job: str) -> Wish | None:
        """Return what is wished of a job."""
        return await self._read(partial(pausing.wish_of, job=job))

    async def delete(self, job: str) -> None:
        """Forget a job, its log and its idempotency key."""
        await self._write(partial(wishing.hide, job=job))

    async def lead(self) -> int:
        """Return the fencing token of a new recorder."""
        return await self._write(recording.take_over)

    async def positions(self, jobs: Sequence[str]) -> Mapping[str, Position]:
        """Tell how far jobs are recorded."""
        return await self._read(partial(reading.positions_of, wanted=jobs))

    async def record(self, fence: int, excerpts: Sequence[Excerpt]) -> None:
        """Record what jobs have told, in one step."""

        def record(connection: Connection) -> None:
            recording.stand(connection, fence)
            found = reading.positions_of(connection, [told.job.id for told in excerpts])
            for excerpt in excerpts:
                known = found.get(excerpt.job.id)
                if known is None and excerpt.whole:
                    known = recording.adopt(connection, self._database, excerpt)
                if known is not None:
                    recording.write(connection, self._database, excerpt, known)

        await self._write(record)

    async def unfinished(self, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return ids of jobs that are not recorded as over, oldest first."""
        return await self._read(partial(reading.unfinished_of, after=after, limit=limit))

    async def counts(self) -> Mapping[State, int]:
        """Tell how many jobs are recorded in each state."""
        return await self._read(reading.counts_of)

    async def send(self, jobs: Sequence[str]) -> Sequence[str]:
        """Take note that jobs are about to be queued in the job store; return those that may be."""
        return await self._write(partial(wishing.send, wanted=jobs))

    async def wishes(self, limit: int = 1000) -> Sequence[tuple[str, Wish]]:
        """Return what is wished of jobs, the oldest job first."""
        return await self._read(partial(wishing.wishes, limit=limit))

    async def grant(self, job: str, wish: Wish) -> None:
        """Forget what was wished of a job, unless that is another thing by now."""
        await self._write(partial(wishing.grant, job=job, wish=wish))

    async def bury(self, job: str) -> bool:
        """Remove rows of a deleted job; whether there are more."""
        return await self._write(partial(wishing.bury, job=job))

    async def retire(self, before: float | None, now: float) -> bool:
        """Delete some jobs that were over before a time, and keys that are older than a day."""

        def retire(connection: Connection) -> bool:
            jobs = 0 if before is None else retention.retire(connection, before)
            return retention.sweep(connection, now) or jobs == retention.BATCH

        return await self._write(retire)

    async def states(self, jobs: Sequence[str]) -> Mapping[str, State]:
        """Return the states of jobs as they are recorded."""
        return await self._read(partial(reading.states_of, wanted=jobs))

    async def ping(self) -> None:
        """Raise `StoreUnreachable` unless the archive answers, and takes writes."""
        with self._our_errors():
            await self._database.join(recording.touch)

    async def _read(self, work: Work[T]) -> T:
        with self._our_errors():
            return await self._database.read(work)

    async def _write(self, work: Work[T]) -> T:
        with self._our_errors():
            return await self._database.write(work)

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        """Raise ours where the database cannot do its part."""
        try:
            yield
        except (PoolTimeout, OSError) as error:
            raise self._away(error) from error
        except StoreError:
            raise
        except Exception as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            trouble = None if cause is None else self._database.trouble(cause)
            if trouble is None:
                raise
            if trouble == "full":
                words = " ".join(str(cause).split())
                raise StoreRefuses(
                    f"the archive at {self._place} takes no writes now: {words}; once that is "
                    "mended, work goes on by itself",
                    words=words,
                    what="the archive",
                ) from error
            raise self._away(cause) from error

    def _away(self, error: BaseException | None) -> StoreUnreachable:
        words = " ".join(str(error).split()) or type(error).__name__
        return StoreUnreachable(
            f"the archive at {self._place} cannot be reached: {words}; start it, or correct "
            "DRIFTFOLD_ARCHIVE"
        )
