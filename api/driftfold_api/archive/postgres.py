"""The archive in a database of PostgreSQL."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from sqlalchemy import Connection, Insert, Table, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from driftfold_api.archive.base import ArchiveError
from driftfold_api.archive.dialect import Dialect, Trouble

try:
    import asyncpg
except ModuleNotFoundError:  # the extra `postgres` is not installed
    asyncpg = None

ANSWER_WITHIN = 10.0  # seconds
CONNECTIONS = 8
SCHEMA_LOCK = 0x64_66  # any number, the same for all who share a database
NO_ROOM = ("53100", "53200", "25006")  # disk full, out of memory, read only
AWAY = ("08", "53", "57")  # no connection; too many of them; it stops, or was told to


class Postgres(Dialect):
    """A server that several APIs can share."""

    one_writer = False  # and transactions of two that take the same keys in turn could lock up

    def engine(self, url: str) -> AsyncEngine:
        """Return the engine; a connection that was lost is made anew before it is used."""
        if asyncpg is None:
            raise ArchiveError(
                "an archive in PostgreSQL needs asyncpg; install it with "
                "`pip install 'driftfold[postgres]'`"
            )
        return create_async_engine(
            url,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args={"timeout": ANSWER_WITHIN, "command_timeout": ANSWER_WITHIN},
        )

    def insert_new(self, table: Table) -> Insert:
        """Return an insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def turn(self) -> AbstractAsyncContextManager[Any]:
        """Wait for nobody."""
        return nullcontext()

    def lock_schema(self, connection: Connection) -> None:
        """Let nobody else change tables until the end of the transaction."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SCHEMA_LOCK})

    def moment(self) -> Mapping[str, Any]:
        """Return the isolation that gives all statements one snapshot."""
        return {"isolation_level": "REPEATABLE READ"}

    def trouble(self, error: BaseException) -> Trouble | None:
        """Tell a server that is away, starts, stops, or has no room."""
        code = str(getattr(error, "sqlstate", "") or "")
        if code.startswith(NO_ROOM):
            return "full"
        ours = (asyncpg.PostgresConnectionError, asyncpg.InterfaceError)
        if code.startswith(AWAY) or isinstance(error, ours):
            return "away"
        return None
