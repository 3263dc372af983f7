"""The archive in SQL."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Self

from sqlalchemy import delete, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection

from driftfold_api.archive import accepting, reading, recording
from driftfold_api.archive.base import Archive, ArchiveError, Position, Wanted
from driftfold_api.archive.dialect import Dialect
from driftfold_api.archive.migrating import migrate
from driftfold_api.archive.postgres import Postgres
from driftfold_api.archive.sqlite import WRITING, Sqlite
from driftfold_api.archive.tables import jobs
from driftfold_api.archive.together import Together
from driftfold_workers.excerpt import Excerpt
from driftfold_workers.job import Job, LifecycleEvent, News, State
from driftfold_workers.store import Page, StoreError, StoreRefuses, StoreUnreachable, UnknownJob

DIALECTS: Mapping[str, type[Dialect]] = {
    "sqlite+aiosqlite": Sqlite,
    "postgresql+asyncpg": Postgres,
}
SHORT = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}


class SqlArchive(Archive):
    """Jobs and their logs in SQLite or PostgreSQL."""

    def __init__(self, url: str) -> None:
        try:
            parts = make_url(url)
        except ArgumentError:
            parts = None
        kind = "" if parts is None else SHORT.get(parts.drivername, parts.drivername)
        if parts is None or kind not in DIALECTS:
            raise ArchiveError(
                f"cannot keep the archive at {url.partition('://')[0]!r}://...; give "
                "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
            )
        parts = parts.set(drivername=kind)
        self._place = parts.render_as_string(hide_password=True)
        self._dialect = DIALECTS[kind]()
        self._together = Together(self._writing)
        self._engine = self._dialect.engine(parts.render_as_string(hide_password=False))

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
            async with archive._writing() as connection:
                await connection.run_sync(migrate, archive._dialect)
            yield archive
        finally:
            await archive._together.done()
            await archive._engine.dispose()

    async def accept(
        self, wanted: Wanted, *, key: str | None = None, instead_of: str = ""
    ) -> tuple[Job, bool]:
        """Make a job, or return the one that the key has made; it is on disk then."""

        async def accept(connection: AsyncConnection) -> tuple[Job, bool]:
            if key is None:
                return await accepting.make(connection, wanted), True
            return await accepting.make_once(connection, self._dialect, wanted, key, instead_of)

        if self._dialect.one_writer:
            return await self._together.do(accept)
        async with self._writing() as connection:
            return await accept(connection)

    async def get(self, job: str) -> Job:
        """Return a job as it is recorded."""
        async with self._reading() as connection:
            return await reading.job_of(connection, job)

    async def list(
        self, *, limit: int = 50, cursor: str | None = None, state: State | None = None
    ) -> Page:
        """Return jobs, newest first."""
        async with self._reading() as connection:
            return await reading.page_of(connection, limit, cursor, state)

    async def read(self, job: str, *, after: int = 0, limit: int = 1000) -> Sequence[bytes]:
        """Return records after number `after`, in order."""
        async with self._reading() as connection:
            await reading.job_of(connection, job)
            return await reading.records_of(connection, job, after, limit)

    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Return lifecycle events of a job after number `after`."""
        async with self._reading() as connection:
            await reading.job_of(connection, job)
            return await reading.events_of(connection, job, after, limit)

    async def news(
        self, job: str, *, after: int = 0, events_after: int = 0, limit: int = 1000
    ) -> News:
        """Return records and lifecycle events after two numbers, of one moment."""
        async with self._reading() as connection:
            known = await reading.job_of(connection, job)
            return News(
                records=await reading.records_of(connection, job, after, limit),
                events=await reading.events_of(connection, job, events_after, limit),
                state=known.state,
                reason=known.reason,
                seq=known.seq,
            )

    async def delete(self, job: str) -> None:
        """Forget a job, its log and its idempotency key."""
        async with self._writing() as connection:
            if not (await connection.execute(delete(jobs).where(jobs.c.id == job))).rowcount:
                raise UnknownJob(f"no job has the id {job}")

    async def lead(self) -> int:
        """Return the fencing token of a new recorder."""
        async with self._writing() as connection:
            return await recording.take_over(connection)

    async def positions(self, jobs: Sequence[str]) -> Mapping[str, Position]:
        """Tell how far jobs are recorded."""
        async with self._reading() as connection:
            return await reading.positions_of(connection, jobs)

    async def record(self, fence: int, excerpts: Sequence[Excerpt]) -> None:
        """Record what jobs have told, in one step."""
        async with self._writing() as connection:
            await recording.stand(connection, fence)
            found = await reading.positions_of(connection, [told.job.id for told in excerpts])
            for excerpt in excerpts:
                if known := found.get(excerpt.job.id):
                    await recording.write(connection, self._dialect, excerpt, known)

    async def unfinished(self, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return ids of jobs that are not recorded as over, oldest first."""
        async with self._reading() as connection:
            return await reading.unfinished_of(connection, after, limit)

    async def ping(self) -> None:
        """Raise `StoreUnreachable` unless the archive answers."""
        async with self._reading() as connection:
            await connection.execute(text("SELECT 1"))

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection that sees one moment."""
        with self._our_errors():
            async with self._engine.connect() as connection:
                await connection.execution_options(**self._dialect.moment())
                yield connection

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection in a transaction, which is on disk when the block has ended."""
        with self._our_errors():
            async with self._dialect.turn(), self._engine.connect() as connection:
                await connection.execution_options(**{WRITING: True})
                async with connection.begin():
                    yield connection

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
            trouble = None if cause is None else self._dialect.trouble(cause)
            if trouble is None:
                raise
            if trouble == "full":
                words = " ".join(str(cause).split())
                raise StoreRefuses(
                    f"the archive at {self._place} takes no writes now: {words}; once that is "
                    "mended, work goes on by itself",
                    words=words,
                ) from error
            raise self._away(cause) from error

    def _away(self, error: BaseException | None) -> StoreUnreachable:
        words = " ".join(str(error).split()) or type(error).__name__
        return StoreUnreachable(
            f"the archive at {self._place} cannot be reached: {words}; start it, or correct "
            "DRIFTFOLD_ARCHIVE"
        )
