"""Snapshots as files in a folder that every worker can reach."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.container import (
    check_run,
    is_snapshot_name,
    next_number,
    read_snapshot,
    snapshot_name,
    write_snapshot,
)
from driftfold.errors import CheckpointError

KEEP = 2
_SUFFIX = ".npz"
_PART = ".part"


@dataclass(frozen=True)
class DiskStore(CheckpointStore):
    """Keeps the last two snapshots of each run as `<folder>/<run>/<name>.npz`.

    A snapshot is written under another name, flushed to the disk and then renamed, so whatever is
    killed and whenever, a file with a snapshot's name is whole. `numpy.load` opens its arrays.

    >>> import tempfile
    >>> store = DiskStore(Path(tempfile.mkdtemp()))
    >>> store.save("a", Snapshot({"round": 1}, {}))
    '000000001-...'
    >>> store.latest("a").meta
    {'round': 1}
    """

    folder: Path

    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store the snapshot and drop all but the last two."""
        place = self.folder / check_run(run)
        part = place / f"{secrets.token_hex(8)}{_PART}"
        with _clear_errors("save a snapshot in", place):
            place.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("w+b") as file:
                    checksum = write_snapshot(file, snapshot)
                    os.fsync(file.fileno())
                name = snapshot_name(next_number(self.names(run)), checksum)
                part.replace(place / f"{name}{_SUFFIX}")
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            _sync_folder(place)
            self._tidy(run)
        return name

    def names(self, run: str) -> list[str]:
        """Names of the snapshots that are kept, oldest first."""
        place = self.folder / check_run(run)
        with _clear_errors("list the snapshots in", place):
            try:
                files = [path for path in place.iterdir() if path.suffix == _SUFFIX]
            except FileNotFoundError:
                return []
        return sorted(path.stem for path in files if is_snapshot_name(path.stem))

    def load(self, run: str, name: str) -> Snapshot:
        """Return one snapshot."""
        if not is_snapshot_name(name):
            raise CheckpointError(f"{name!r} is no snapshot's name; give one that `save` returned")
        path = self.folder / check_run(run) / f"{name}{_SUFFIX}"
        with _clear_errors("read the snapshot", path), path.open("rb") as file:
            return read_snapshot(file, name, str(path))

    def forget(self, run: str) -> None:
        """Remove all snapshots of a run."""
        place = self.folder / check_run(run)
        with _clear_errors("remove the snapshots in", place), suppress(FileNotFoundError):
            for path in place.iterdir():
                if path.suffix in (_SUFFIX, _PART):
                    path.unlink(missing_ok=True)
            place.rmdir()

    def _tidy(self, run: str) -> None:
        """Remove old snapshots, and what killed writers left: a run has one writer at a time."""
        place = self.folder / run
        for name in self.names(run)[:-KEEP]:
            (place / f"{name}{_SUFFIX}").unlink(missing_ok=True)
        for part in place.glob(f"*{_PART}"):
            part.unlink(missing_ok=True)


@contextmanager
def _clear_errors(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CheckpointError(
            f"cannot {what} {path}: {error.strerror}; free some space, or give a folder that this "
            "process may read and write"
        ) from error


def _sync_folder(place: Path) -> None:
    # The rename itself must reach the disk; opening a folder works on POSIX systems only.
    if os.name == "posix":
        folder = os.open(place, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
