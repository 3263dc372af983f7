"""Snapshots that carry the rounds of their run."""

from collections.abc import Sequence

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold_workers.artefacts.rounds import Rounds


class WithRounds(CheckpointStore):
    """Saves each snapshot with the rounds before it."""

    def __init__(self, store: CheckpointStore, rounds: Rounds) -> None:
        self._store = store
        self._rounds = rounds

    def save(self, run: str, snapshot: Snapshot) -> str:
        """Store the snapshot, and the rounds in it."""
        return self._store.save(run, self._rounds.kept_in(snapshot))

    def names(self, run: str) -> Sequence[str]:
        """Names of the snapshots that are kept, oldest first."""
        return self._store.names(run)

    def load(self, run: str, name: str) -> Snapshot:
        """Return the snapshot of that name."""
        return self._store.load(run, name)

    def forget(self, run: str) -> None:
        """Remove all snapshots of a run."""
        self._store.forget(run)
