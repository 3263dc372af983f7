"""The archive in a file of SQLite."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Insert, Table, event
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from driftfold_api.archive.base import ArchiveError
from driftfold_api.archive.dialect import Dialect, Trouble

BUSY = 10.0  # seconds to wait for another process that writes
SYNCHRONOUS = "FULL"  # a commit returns when it is on disk
WRITING = "driftfold_writing"
NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
AWAY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)


class Sqlite(Dialect):
    """A file with a write-ahead log: readers never wait, what is committed is on disk."""

    one_writer = True

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    def engine(self, url: str) -> AsyncEngine:
        """Return the engine; the file's folder is made."""
        name = make_url(url).database
        if not name or name == ":memory:":
            raise ArchiveError(
                f"cannot keep the archive at {url!r}; give a file, as sqlite:///FILE"
            )
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArchiveError(f"cannot make the folder of the archive {name}: {error}") from error
        engine = create_async_engine(url, connect_args={"timeout": BUSY})
        event.listen(engine.sync_engine, "connect", _prepare)
        event.listen(engine.sync_engine, "begin", _begin)
        return engine

    def insert_new(self, table: Table) -> Insert:
        """Return an insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def turn(self) -> AbstractAsyncContextManager[Any]:
        """Wait for this process's other writers: SQLite itself would sleep and try again."""
        return self._turn

    def lock_schema(self, connection: Connection) -> None:
        """Nothing to do: a transaction that writes has the file for itself."""

    def moment(self) -> Mapping[str, Any]:
        """Return nothing: every transaction is like that."""
        return {}

    def trouble(self, error: BaseException) -> Trouble | None:
        """Tell a locked file, a full disk, and the like."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            return None
        code &= 0xFF  # the rest tells more of it
        if code in NO_ROOM:
            return "full"
        return "away" if code in AWAY else None


def _prepare(connection: Any, _: Any) -> None:
    # Transactions are begun below, by us: the driver's own way begins them too late.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", f"synchronous={SYNCHRONOUS}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # One that reads first and then writes could find that another one wrote in between.
    writing = connection.get_execution_options().get(WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
