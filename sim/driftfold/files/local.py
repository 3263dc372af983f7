"""Files in a folder of this machine, or of a file system that is mounted here."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from driftfold.files.base import CHUNK, PART, Entry, Files

T = TypeVar("T")


@dataclass(frozen=True)
class LocalFiles(Files):
    """Files in a folder: written under another name, flushed to the disk, and renamed.

    >>> import tempfile
    >>> files = LocalFiles(Path(tempfile.mkdtemp()))
    >>> files.put("a/b.txt", lambda file: file.write(b"three"))
    5
    >>> [entry.name for entry in files.list("a")], files.walk("")
    (['a/b.txt'], ['a/b.txt'])
    """

    folder: Path

    def put(self, name: str, write: Callable[[IO[bytes]], T]) -> T:
        """Write a file and rename it."""
        path = self.folder / name
        # A name of its own, because an attempt that was given up may still be writing the same.
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("w+b") as file:
                done = write(file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return done

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading."""
        return (self.folder / name).open("rb")

    def look(self, name: str) -> Entry | None:
        """Return what is known of a regular file; of a link nothing is."""
        path = self.folder / name
        if path.is_symlink() or not path.is_file():
            return None
        facts = path.stat()
        return Entry(name, facts.st_size, facts.st_mtime)

    def list(self, folder: str) -> Sequence[Entry]:
        """Return the regular files of a folder; links are left out."""
        place = self.folder / folder
        try:
            names = sorted(path.name for path in place.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        prefix = f"{folder}/" if folder else ""
        found = (self.look(f"{prefix}{name}") for name in names)
        return [entry for entry in found if entry is not None]

    def walk(self, folder: str) -> Sequence[str]:
        """Return the names of all files below a folder; links are not followed."""
        found = []
        for place, _, names in os.walk(self.folder / folder):
            found += [(Path(place) / name).relative_to(self.folder).as_posix() for name in names]
        return sorted(found)

    def remove(self, names: Sequence[str]) -> None:
        """Remove files, and the folders that are empty then."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
        places = {place for name in names for place in Path(name).parents}
        for place in sorted(places, key=lambda place: len(place.parts), reverse=True):
            try:
                if place.parts:
                    (self.folder / place).rmdir()
            except OSError:  # not empty, or gone
                continue

    def read(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` to before `end`, in pieces."""
        with self.open(name) as file:
            file.seek(start)
            left = -1 if end is None else end - start
            while left and (piece := file.read(CHUNK if left < 0 else min(CHUNK, left))):
                yield piece
                left -= len(piece) if left > 0 else 0

    def child(self, folder: str) -> "LocalFiles":
        """Return the files below one of the folders."""
        return LocalFiles(self.folder / folder)

    def __str__(self) -> str:
        return str(self.folder)
