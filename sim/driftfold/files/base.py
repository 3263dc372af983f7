"""Files below one place, seen whole or not at all."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TypeVar

T = TypeVar("T")

CHUNK = 1 << 20  # bytes
PART = ".part"
"""What the name of a file ends with that is not whole yet."""


@dataclass(frozen=True)
class Entry:
    """A file: its name, relative to the place, with "/" between folders, and what is known of it.

    Attributes
    ----------
    size
        Bytes.
    modified
        Unix time in seconds, or None where the place does not tell.
    """

    name: str
    size: int
    modified: float | None


class Files(ABC):
    """Files that several processes, perhaps on several machines, write and read.

    A reader sees a file as it was or as it is, never a part. Names are relative, with "/" between
    folders, which need not be made first. All methods raise `OSError`; one whose number is EIO, or
    ENOSPC and the like, is a fault of the place and not of whoever asked.
    """

    @abstractmethod
    def put(self, name: str, write: Callable[[IO[bytes]], T]) -> T:
        """Let `write` fill a file that can be read back, then keep it durably, in place of another.

        Returns what `write` returns; where that raises, nothing has changed.
        """

    @abstractmethod
    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading; `FileNotFoundError` where there is none."""

    @abstractmethod
    def look(self, name: str) -> Entry | None:
        """Return what is known of a file, or None where there is none."""

    @abstractmethod
    def list(self, folder: str) -> Sequence[Entry]:
        """Return the files of a folder, not those of folders in it, by name."""

    @abstractmethod
    def walk(self, folder: str) -> Sequence[str]:
        """Return the names of all files below a folder, at any depth."""

    @abstractmethod
    def remove(self, names: Sequence[str]) -> None:
        """Remove files; what is not there is no error. Folders that are empty then may go, too."""

    @abstractmethod
    def read(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` to before `end`, in pieces."""

    @abstractmethod
    def child(self, folder: str) -> "Files":
        """Return the files below one of the folders."""
