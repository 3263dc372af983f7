"""The archive in a file of SQLite."""

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Insert, Table, create_engine, event
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError, OperationalError

from driftfold_api.archive.base import ArchiveError
from driftfold_api.archive.database import Database, Trouble, Work
from driftfold_api.archive.together import Together

T = TypeVar("T")

BUSY = 5.0  # seconds to wait for another process that writes
LOOK = 250  # ms of it in SQLite, which counts its naps and not the time: on a busy machine more
SYNCHRONOUS = "FULL"  # a commit returns when it is on disk
READERS = 4
NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
AWAY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)


class Sqlite(Database):
    """A file with a write-ahead log: readers never wait, what is committed is on disk.

    A transaction is one call in a thread: what it costs to go there and back is more than what
    most statements cost. One thread writes, as the file has one writer at a time anyway.
    """

    def __init__(self, url: URL) -> None:
        name = url.database
        if not name or name == ":memory:":
            raise ArchiveError(
                f"cannot keep the archive at '{url}'; give a file, as sqlite:///FILE"
            )
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArchiveError(f"cannot make the folder of the archive {name}: {error}") from error
        self._engine = create_engine(
            url,
            pool_size=READERS + 1,
            connect_args={"timeout": BUSY, "check_same_thread": False},
        )
        event.listen(self._engine, "connect", _prepare)
        self._readers = ThreadPoolExecutor(READERS, "archive-reader")
        self._writer = ThreadPoolExecutor(1, "archive-writer")
        self._together = Together(self.write, self._in_trouble)

    async def read(self, work: Work[T]) -> T:
        """Return what work reads, all of one moment."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._transaction, "BEGIN", work)

    async def write(self, work: Work[T]) -> T:
        """Return what work returns, once it is on disk."""
        loop = asyncio.get_running_loop()
        # One that reads first and then writes could find that another one wrote in between.
        begin, until = "BEGIN IMMEDIATE", time.monotonic() + BUSY
        return await loop.run_in_executor(self._writer, self._transaction, begin, work, until)

    async def join(self, work: Work[T]) -> T:
        """Do the same together with what others want meanwhile."""
        return await self._together.do(work)

    async def close(self) -> None:
        """Finish what was begun, and close all connections."""
        await self._together.done()
        for threads in (self._readers, self._writer):
            await asyncio.to_thread(threads.shutdown)
        self._engine.dispose()

    def insert_new(self, table: Table) -> Insert:
        """Return an insert that leaves rows alone which are there already."""
        return insert(table).on_conflict_do_nothing()

    def lock_schema(self, connection: Connection) -> None:
        """Nothing to do: a transaction that writes has the file for itself."""

    def trouble(self, error: BaseException) -> Trouble | None:
        """Tell a locked file, a full disk, and the like."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            return None
        code &= 0xFF  # the rest tells more of it
        if code in NO_ROOM:
            return "full"
        return "away" if code in AWAY else None

    def _in_trouble(self, error: Exception) -> bool:
        cause = error.orig if isinstance(error, DBAPIError) else None
        return cause is not None and self.trouble(cause) is not None

    def _transaction(self, begin: str, work: Work[T], until: float = 0.0) -> T:
        with self._engine.connect() as connection, connection.begin():
            while True:
                try:
                    connection.exec_driver_sql(begin)
                    break
                except OperationalError as error:
                    locked = error.orig is not None and self.trouble(error.orig) == "away"
                    if not locked or time.monotonic() >= until:
                        raise
            return work(connection)


def _prepare(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun here: the driver does so too late
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", f"synchronous={SYNCHRONOUS}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.execute(f"PRAGMA busy_timeout={LOOK}")
    cursor.close()
