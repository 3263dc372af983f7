"""What differs between the databases that can hold an archive."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Literal, TypeAlias

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.ext.asyncio import AsyncEngine

Trouble: TypeAlias = Literal["away", "full"]
"""It does not answer; or it does, and takes no writes, for want of room say."""


class Dialect(ABC):
    """One kind of database.

    Attributes
    ----------
    one_writer
        Whether it has one transaction at a time that writes, so that many had better be one.
    """

    one_writer: ClassVar[bool]

    @abstractmethod
    def engine(self, url: str) -> AsyncEngine:
        """Return the engine for an address. Nothing is opened yet."""

    @abstractmethod
    def insert_new(self, table: Table) -> Insert:
        """Return an insert that leaves rows alone which are there already."""

    @abstractmethod
    def turn(self) -> AbstractAsyncContextManager[Any]:
        """Wait for one's turn to write, where this process can have one writer only."""

    @abstractmethod
    def lock_schema(self, connection: Connection) -> None:
        """Let nobody else change tables until the end of the transaction."""

    @abstractmethod
    def moment(self) -> Mapping[str, Any]:
        """Return options of a connection that sees one moment in all it reads."""

    @abstractmethod
    def trouble(self, error: BaseException) -> Trouble | None:
        """Tell an error of the driver that is the database's, not ours."""
