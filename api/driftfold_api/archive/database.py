"""A database that can hold an archive: work is carried out on it, a transaction for each piece."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

from sqlalchemy import Connection, Insert, Table

T = TypeVar("T")
Work: TypeAlias = Callable[[Connection], T]
"""What is done on a connection. It runs in a thread or a coroutine of the database's own."""

Trouble: TypeAlias = Literal["away", "full"]
"""It does not answer; or it does, and takes no writes, for want of room say."""


class Database(ABC):
    """One kind of database, at an address. Nothing is opened before the first piece of work.

    Errors of its driver are raised as they are; `trouble` tells which are no fault of ours.
    """

    @abstractmethod
    async def read(self, work: Work[T]) -> T:
        """Return what work reads, all of one moment."""

    @abstractmethod
    async def write(self, work: Work[T]) -> T:
        """Return what work returns, once what it wrote is on disk."""

    @abstractmethod
    async def join(self, work: Work[T]) -> T:
        """Do the same, perhaps together with the work of others, and at one wait for the disk.

        Work may refuse by a `StoreError` before it has written anything. It is done even when
        its caller has left.
        """

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun, and close all connections."""

    @abstractmethod
    def insert_new(self, table: Table) -> Insert:
        """Return an insert that leaves rows alone which are there already."""

    @abstractmethod
    def lock_schema(self, connection: Connection) -> None:
        """Let nobody else change tables until the end of the transaction."""

    @abstractmethod
    def trouble(self, error: BaseException) -> Trouble | None:
        """Tell an error of the driver that is the database's, not ours."""
