"""Checkpoint stores: where snapshots live."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.errors import CheckpointError


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run's state between two events.

    Attributes
    ----------
    meta
        JSON-ready facts: positions, digests, logs, skeletons of the states.
    arrays
        Every array of the states, by name.
    """

    meta: Mapping[str, Any]
    arrays: Mapping[str, Any]


class CheckpointStore(ABC):
    """Keeps the newest snapshots of each run under a URL that every worker can reach.

    A run has one writer at a time: an attempt that was given up and goes on writing must do so
    under a name of its own. Runs are named by letters, digits, ".", "_" and "-". All methods
    raise `CheckpointError` when the store cannot be written or read, or the name of a run or
    snapshot is not valid.
    """

    @abstractmethod
    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store durably and atomically; return the snapshot's name."""

    @abstractmethod
    def names(self, run: str) -> Sequence[str]:
        """Names of the snapshots that are kept, oldest first; at least two once two were saved."""

    @abstractmethod
    def load(self, run: str, name: str) -> Snapshot:
        """Return the snapshot of that name; `CheckpointError` if it is damaged or not there."""

    @abstractmethod
    def forget(self, run: str) -> None:
        """Remove all snapshots of a run; nothing happens when there are none."""

    def latest(self, run: str) -> Snapshot | None:
        """Return the newest snapshot that is whole, or None when there is none.

        A damaged snapshot is passed over for the one before it; if all are damaged,
        `CheckpointError` says so.
        """
        while True:
            names = self.names(run)
            faults: list[str] = []
            for name in reversed(names):
                try:
                    return self.load(run, name)
                except CheckpointError as error:
                    faults.append(str(error))
            if not names:
                return None
            if self.names(run) == names:  # else they were replaced while we looked: look again
                raise CheckpointError(
                    f"all {len(names)} snapshots of run {run!r} are damaged: {'; '.join(faults)}; "
                    "start the run anew"
                )
