"""The archive in a database of PostgreSQL."""

from typing import TypeVar

from sqlalchemy import URL, Connection, Insert, Table, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import create_async_engine

from driftfold_api.archive.base import ArchiveError
from driftfold_api.archive.database import Database, Trouble, Work

try:
    import asyncpg
except ModuleNotFoundError:  # the extra `postgres` is not installed
    asyncpg = None

T = TypeVar("T")

ANSWER_WITHIN = 10.0  # seconds
CONNECTIONS = 8
SCHEMA_LOCK = 0x64_66  # any number, the same for all who share a database
NO_ROOM = ("53100", "53200", "25006")  # disk full, out of memory, read only
AWAY = ("08", "53", "57")  # no connection; too many of them; it stops, or was told to


class Postgres(Database):
    """A server that several APIs can share."""

    def __init__(self, url: URL) -> None:
        if asyncpg is None:
            raise ArchiveError(
                "an archive in PostgreSQL needs asyncpg; install it with "
                "`pip install 'driftfold[postgres]'`"
            )
        # A connection that was lost is made anew before it is used.
        self._engine = create_async_engine(
            url.set(drivername="postgresql+asyncpg"),
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args={"timeout": ANSWER_WITHIN, "command_timeout": ANSWER_WITHIN},
        )

    async def read(self, work: Work[T]) -> T:
        """Return what work reads; all statements have one snapshot."""
        async with self._engine.connect() as connection:
            await connection.execution_options(isolation_level="REPEATABLE READ")
            return await connection.run_sync(work)

    async def write(self, work: Work[T]) -> T:
        """Return what work returns, once it is on disk."""
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def join(self, work: Work[T]) -> T:
        """Do the same: the server lets many transactions share a wait for the disk."""
        # Nor may they be one: transactions of two that take the same keys in turn could lock up.
        return await self.write(work)

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    def insert_new(self, table: Table) -> Insert:
        """Return an insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def lock_schema(self, connection: Connection) -> None:
        """Let nobody else change tables until the end of the transaction."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SCHEMA_LOCK})

    def trouble(self, error: BaseException) -> Trouble | None:
        """Tell a server that is away, starts, stops, or has no room."""
        code = str(getattr(error, "sqlstate", "") or "")
        if code.startswith(NO_ROOM):
            return "full"
        lost = (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, OSError)
        # SQLAlchemy raises an error of its own from that of the driver.
        if code.startswith(AWAY) or isinstance(error, lost) or isinstance(error.__cause__, lost):
            return "away"
        return None
