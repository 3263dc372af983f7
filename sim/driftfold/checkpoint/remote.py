"""Snapshots where fsspec reaches: an object store, or a file system on another machine."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

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
from driftfold.files import Files

KEEP = 2
_SUFFIX = ".npz"


@dataclass(frozen=True)
class RemoteStore(CheckpointStore):
    """Keeps the last two snapshots of each run as `<run>/<name>.npz`, as `DiskStore` does.

    >>> from driftfold.files import RemoteFiles
    >>> store = RemoteStore(RemoteFiles("memory://tests-of-snapshots"))
    >>> store.save("a", Snapshot({"round": 1}, {}))
    '000000001-...'
    >>> store.latest("a").meta
    {'round': 1}
    """

    files: Files

    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store the snapshot and drop all but the last two."""
        kept = self.names(run)
        with tempfile.TemporaryFile() as file, self._clear("save a snapshot in", run):
            # Its name has its checksum, so it must be whole before it is sent.
            name = snapshot_name(next_number(kept), write_snapshot(file, snapshot))
            self.files.put(_place(run, name), lambda there: shutil.copyfileobj(file, there))
            self.files.remove([_place(run, old) for old in [*kept, name][:-KEEP]])
        return name

    def names(self, run: str) -> list[str]:
        """Names of the snapshots that are kept, oldest first."""
        check_run(run)
        with self._clear("list the snapshots in", run):
            found = [PurePosixPath(entry.name) for entry in self.files.list(run)]
        stems = [path.stem for path in found if path.suffix == _SUFFIX]
        return sorted(stem for stem in stems if is_snapshot_name(stem))

    def load(self, run: str, name: str) -> Snapshot:
        """Return one snapshot."""
        if not is_snapshot_name(name):
            raise CheckpointError(f"{name!r} is no snapshot's name; give one that `save` returned")
        place = _place(check_run(run), name)
        with self._clear("read the snapshot", place), self.files.open(place) as file:
            return read_snapshot(file, name, f"{self.files}/{place}")

    def forget(self, run: str) -> None:
        """Remove all snapshots of a run."""
        with self._clear("remove the snapshots in", check_run(run)):
            self.files.remove(self.files.walk(run))

    @contextmanager
    def _clear(self, what: str, place: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CheckpointError(
                f"cannot {what} {self.files}/{place}: {error.strerror or error}; see that this "
                "process may read and write there"
            ) from error


def _place(run: str, name: str) -> str:
    return f"{run}/{name}{_SUFFIX}"
