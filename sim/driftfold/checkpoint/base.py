"""Checkpoint stores: where snapshots live."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
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
    """Keeps the newest snapshots of each run under a URL that every worker can reach."""

    @abstractmethod
    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store durably and atomically; return the snapshot's name."""

    @abstractmethod
    def latest(self, run: str) -> Snapshot | None:
        """Return the newest snapshot that is whole, or None when there is none.

        A damaged snapshot is passed over for the one before it; if all are damaged,
        `CheckpointError` says so.
        """
