"""Files that fsspec reaches: an object store, or a file system on another machine."""

import errno
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from secrets import token_hex
from typing import IO, Any, TypeVar

from driftfold.errors import PlaceError
from driftfold.files.base import CHUNK, PART, Entry, Files

T = TypeVar("T")

ONE_STEP = {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "r2", "s3", "s3a"}
"""Protocols by which a file is stored in one step: readers see it whole, or the one before it."""
IN_MEMORY = 8 << 20  # bytes of a file that is being written; a longer one goes to a file
_WHEN = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")


@dataclass(frozen=True)
class RemoteFiles(Files):
    """Files below a URL, over fsspec, whose settings say how to get there (`FSSPEC_S3_...`).

    An object store takes a file in one step. Any other file system must be able to rename one:
    there it is stored under another name first.

    Attributes
    ----------
    url
        As fsspec takes it: "s3://bucket/folder".

    Examples
    --------
    >>> files = RemoteFiles("memory://tests-of-files")
    >>> files.put("a/b.txt", lambda file: file.write(b"three"))
    5
    >>> files.walk(""), next(files.read("a/b.txt", 1, 3))
    (['a/b.txt'], b'hr')
    """

    url: str

    @cached_property
    def _system(self) -> tuple[Any, str]:
        """The file system, and where in it the place is."""
        import fsspec  # where runs are in a folder nobody waits for it

        protocol = self.url.partition("://")[0].lower()
        try:
            # Listings that are kept would hide what other processes write.
            system, path = fsspec.url_to_fs(self.url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise PlaceError(
                f"cannot reach {self.url!r}: {error}; install what fsspec needs for "
                f"{protocol}://, or give a folder"
            ) from error
        moves = fsspec.AbstractFileSystem.mv
        if protocol not in ONE_STEP and type(system).mv is moves:
            raise PlaceError(
                f"cannot keep files at {self.url!r}: what reads there meanwhile would see parts, "
                f"for {protocol}:// can neither store nor rename a file in one step; give a folder "
                "or an object store"
            )
        return system, path.rstrip("/")

    def check(self) -> None:
        """Raise `PlaceError` where no files can be kept at the URL, for all that is known here."""
        assert self._system

    def put(self, name: str, write: Callable[[IO[bytes]], T]) -> T:
        """Write a file here, then store it."""
        system, path = self._at(name)
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            done = write(file)
            file.seek(0)
            with self._clear(name):
                self._store(system, path, file)
        return done

    def open(self, name: str) -> IO[bytes]:
        """Return the file, of which as much as has room is held in memory."""
        file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the caller closes it
        try:
            for piece in self.read(name):
                file.write(piece)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    def look(self, name: str) -> Entry | None:
        """Return what is known of a file."""
        system, path = self._at(name)
        with self._clear(name):
            try:
                facts = system.info(path)
            except FileNotFoundError:
                return None
        return None if facts["type"] != "file" else _entry(name, facts)

    def list(self, folder: str) -> Sequence[Entry]:
        """Return the files of a folder."""
        system, path = self._at(folder)
        with self._clear(folder):
            try:
                found = system.ls(path, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return []
        prefix = f"{folder}/" if folder else ""
        files = [facts for facts in found if facts["type"] == "file" and _last(facts)]
        entries = [_entry(f"{prefix}{_last(facts)}", facts) for facts in files]
        return sorted(entries, key=lambda entry: entry.name)

    def walk(self, folder: str) -> Sequence[str]:
        """Return the names of all files below a folder."""
        system, path = self._at(folder)
        with self._clear(folder):
            try:
                found = system.find(path)
            except FileNotFoundError:
                return []
        root = len(self._system[1]) + 1
        return sorted(str(name)[root:] for name in found)

    def remove(self, names: Sequence[str]) -> None:
        """Remove files."""
        for name in names:
            system, path = self._at(name)
            with self._clear(name):
                try:
                    system.rm_file(path)
                except FileNotFoundError:
                    continue

    def read(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` to before `end`, one request for each piece."""
        system, path = self._at(name)
        with self._clear(name):
            stop = system.info(path)["size"] if end is None else end
        while start < stop:
            with self._clear(name):
                piece = system.cat_file(path, start=start, end=min(start + CHUNK, stop))
            if not piece:
                return
            yield piece
            start += len(piece)

    def child(self, folder: str) -> "RemoteFiles":
        """Return the files below one of the folders."""
        return RemoteFiles(f"{self.url.rstrip('/')}/{folder}")

    def __str__(self) -> str:
        return self.url

    def _at(self, name: str) -> tuple[Any, str]:
        system, root = self._system
        return system, f"{root}/{name}" if name else root

    def _store(self, system: Any, path: str, file: IO[bytes]) -> None:
        if self.url.partition("://")[0].lower() in ONE_STEP:
            _send(system, path, file)
            return
        folder, _, last = path.rpartition("/")
        part = f"{folder}/.{last}.{token_hex(4)}{PART}"
        system.makedirs(folder, exist_ok=True)
        try:
            _send(system, part, file)
            system.mv(part, path)
        except BaseException:
            with suppress(Exception):  # each file system has its own; what counts is the first
                system.rm_file(part)
            raise

    @contextmanager
    def _clear(self, name: str) -> Iterator[None]:
        """Let what went wrong be an `OSError` of the place: each file system has its own errors."""
        try:
            yield
        except (FileNotFoundError, PlaceError):
            raise
        except Exception as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise OSError(errno.EIO, said, f"{self.url.rstrip('/')}/{name}") from error


def _send(system: Any, path: str, file: IO[bytes]) -> None:
    # To open a file and copy would leave half of it where the process is killed meanwhile.
    system.pipe_file(path, file.read())


def _last(facts: Any) -> str:
    return str(facts["name"]).rstrip("/").rpartition("/")[2]


def _entry(name: str, facts: Any) -> Entry:
    when = next((facts[key] for key in _WHEN if facts.get(key)), None)
    if isinstance(when, datetime):
        when = when.timestamp()
    return Entry(name, int(facts["size"]), float(when) if isinstance(when, int | float) else None)
