"""Snapshots in memory: the disk store's twin, for tests and runs that need not survive."""

import io
from collections.abc import Sequence

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.container import (
    check_run,
    next_number,
    read_snapshot,
    snapshot_name,
    write_snapshot,
)
from driftfold.errors import CheckpointError

KEEP = 2


class MemoryStore(CheckpointStore):
    """Keeps the last two snapshots of each run as the bytes that a disk would hold.

    >>> store = MemoryStore()
    >>> store.save("a", Snapshot({"round": 1}, {}))
    '000000001-...'
    >>> store.latest("a").meta
    {'round': 1}
    """

    def __init__(self) -> None:
        self.files: dict[str, dict[str, bytes]] = {}

    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store the snapshot and drop all but the last two."""
        kept = self.files.setdefault(check_run(run), {})
        file = io.BytesIO()
        checksum = write_snapshot(file, snapshot)
        name = snapshot_name(next_number(list(kept)), checksum)
        kept[name] = file.getvalue()
        for old in list(kept)[:-KEEP]:
            del kept[old]
        return name

    def names(self, run: str) -> Sequence[str]:
        """Names of the snapshots that are kept, oldest first."""
        return list(self.files.get(check_run(run), {}))

    def load(self, run: str, name: str) -> Snapshot:
        """Return one snapshot."""
        data = self.files.get(check_run(run), {}).get(name)
        if data is None:
            raise CheckpointError(f"run {run!r} has no snapshot {name!r} in this process's memory")
        return read_snapshot(io.BytesIO(data), name, f"{run}/{name}")

    def forget(self, run: str) -> None:
        """Remove all snapshots of a run."""
        self.files.pop(check_run(run), None)
