"""Confirmed snapshots: none is saved before the job's log vouches for the one before it.

A store keeps the last two snapshots of a run. An attempt that is cut off from its job goes on for a
while; if it saved two more snapshots meanwhile, the one that the job points to would be gone when
the next attempt asks for it.
"""

import threading
from collections.abc import Sequence

from driftfold.checkpoint.base import CheckpointStore, Snapshot


class Confirmation:
    """Whether the latest snapshot is known to the job."""

    def __init__(self) -> None:
        self._known = threading.Event()
        self._known.set()
        self._name = ""

    def expect(self, name: str) -> None:
        """Wait from now on for the confirmation of snapshot `name`."""
        self._name = name
        self._known.clear()

    def confirm(self, name: str) -> None:
        """Take note that a snapshot is known."""
        if name == self._name:
            self._known.set()

    @property
    def known(self) -> bool:
        """Whether the latest snapshot is known."""
        return self._known.is_set()

    def wait(self) -> None:
        """Wait until it is."""
        self._known.wait()


class ConfirmedStore(CheckpointStore):
    """Saves a snapshot once the one before it is confirmed; waits for that."""

    def __init__(self, store: CheckpointStore, confirmation: Confirmation) -> None:
        self._store = store
        self._confirmation = confirmation

    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store the snapshot after the one before it was confirmed."""
        self._confirmation.wait()
        name = self._store.save(run, snapshot)
        self._confirmation.expect(name)
        return name

    def names(self, run: str) -> Sequence[str]:
        """Names of the snapshots that are kept, oldest first."""
        return self._store.names(run)

    def load(self, run: str, name: str) -> Snapshot:
        """Return the snapshot of that name."""
        return self._store.load(run, name)

    def forget(self, run: str) -> None:
        """Remove all snapshots of a run."""
        self._store.forget(run)
