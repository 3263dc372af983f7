"""Runs: the one place that workers and the API all reach, with what jobs leave there."""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftfold.arrays import Array
from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.disk import DiskStore
from driftfold.checkpoint.remote import RemoteStore
from driftfold.files import PART, Entry, Files, LocalFiles, files_at
from driftfold.folder import CHECKPOINTS, MODEL, RESULT
from driftfold.npz import write_npz
from driftfold.telemetry.detail import detail_name, write_detail
from driftfold_workers.artefacts.rounds import KEPT, Rounds

CONFIG = "config.json"
"""The complete specification of a job."""
ROUNDS = "rounds.parquet"
"""What its rounds told, a row each."""
CHECKPOINT = "checkpoint.npz"
"""By this name users get the last snapshot; it is kept under its own, which no other has."""
OUTPUT = "output.txt"
"""What the processes of a job printed, and the tracebacks of those that failed."""


@dataclass(frozen=True)
class Runs:
    """A place that every worker and the API can reach, with a folder for each job.

    `<job>/` has its artefacts, `<job>/checkpoints/` its snapshots, `<job>/rounds/` parts of the
    table of its rounds while it is not over.

    >>> str(Runs.at("file:///data/runs"))
    '/data/runs'
    """

    files: Files

    @classmethod
    def at(cls, place: str | Path) -> "Runs":
        """Return the runs at a path, relative to the present folder, or at a URL of fsspec.

        Raises `PlaceError` where none can be.
        """
        return cls(files_at(place))

    def __str__(self) -> str:
        return str(self.files)

    @property
    def folder(self) -> Path | None:
        """The folder that they are in, or None where it is none of this machine."""
        return self.files.folder if isinstance(self.files, LocalFiles) else None

    def checkpoints(self, job: str) -> CheckpointStore:
        """The snapshots of all attempts at a job."""
        files = self.of(job).child(CHECKPOINTS)
        return DiskStore(files.folder) if isinstance(files, LocalFiles) else RemoteStore(files)

    def of(self, job: str) -> Files:
        """Return the files of a job."""
        return self.files.child(job)

    def load(self, pointer: str) -> Snapshot:
        """Return the snapshot that the log of a job points to; raises `CheckpointError`."""
        attempt, _, snapshot = pointer.partition(":")
        return self.checkpoints(job_of(attempt)).load(attempt, snapshot)

    # -- what a job leaves ----------------------------------------------------------------------

    def configure(self, job: str, spec: Mapping[str, Any]) -> None:
        """Write the specification of a job that begins, unless an earlier attempt has."""
        if self.of(job).look(CONFIG) is None:
            self._write(job, CONFIG, spec)

    def publish(
        self,
        job: str,
        spec: Mapping[str, Any],
        result: Mapping[str, Any],
        model: Array,
        rounds: Rounds,
    ) -> None:
        """Write what a finished job leaves, each file whole or not at all, the result last."""
        self._write(job, CONFIG, spec)
        self.of(job).put(ROUNDS, rounds.write_table)
        self.of(job).put(MODEL, lambda file: write_npz(file, {"model": model}))
        self._write(job, RESULT, result)

    def gather(self, job: str, pointer: str | None) -> None:
        """Write the rounds of a job that ends without a result, as far as a snapshot has them.

        Raises `CheckpointError` and `OSError`.
        """
        if pointer is not None:
            rounds = Rounds(self.of(job), "")
            rounds.go_on_from(self.load(pointer))
            self.of(job).put(ROUNDS, rounds.write_table)

    def tidy(self, job: str, pointer: str | None, *, succeeded: bool = True) -> None:
        """Remove what a job that is over needs no more: all but its last snapshot, parts of rounds.

        And what killed writers have left. One that did not succeed may be tried again from its
        last snapshot, which needs those parts. Raises `OSError`.
        """
        files = self.of(job)
        kept = None if pointer is None else snapshot_file(pointer)
        for name in files.walk(""):
            folder = name.partition("/")[0]
            if folder == KEPT and not succeeded and not name.endswith(PART):
                continue
            if name != kept and (folder in (CHECKPOINTS, KEPT) or name.endswith(PART)):
                files.remove([name])

    def delete(self, job: str) -> None:
        """Remove everything that a job has left; raises `OSError`."""
        if self.folder is None:
            self.of(job).remove(self.of(job).walk(""))
            return
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder / job)

    # -- what users get -------------------------------------------------------------------------

    def artefacts(self, job: str, pointer: str | None) -> Sequence[tuple[str, Entry]]:
        """Return the files of a job that are for its user: the name he knows, and the file.

        What its processes printed is for the operator: it has the paths of that machine in it.
        """
        files = self.of(job)
        found = [(entry.name, entry) for entry in files.list("") if _is_for_users(entry.name)]
        if pointer is not None and (snapshot := files.look(snapshot_file(pointer))) is not None:
            found.append((CHECKPOINT, snapshot))
        return sorted(found, key=lambda each: each[0])

    def keep_detail(self, job: str, seq: int, arrays: Mapping[str, Any]) -> str:
        """Keep the per-client detail of a record; return its name. Raises `OSError`."""
        files = self.of(job)
        if isinstance(files, LocalFiles):
            return write_detail(files.folder, seq, arrays)
        files.put(detail_name(seq), lambda file: write_npz(file, arrays))
        return detail_name(seq)

    def _write(self, job: str, name: str, table: Mapping[str, Any]) -> None:
        text = json.dumps(table, indent=2, allow_nan=False) + "\n"
        self.of(job).put(name, lambda file: file.write(text.encode()))


def attempt_name(job: str, epoch: int) -> str:
    """Return the name under which an attempt keeps its snapshots: its own, so none is shared."""
    return f"{job}.{epoch}"


def job_of(attempt: str) -> str:
    """Return the job of an attempt.

    >>> job_of(attempt_name("0192", 3))
    '0192'
    """
    return attempt.rpartition(".")[0]


def snapshot_file(pointer: str) -> str:
    """Return the file of a snapshot, below the folder of its job.

    >>> snapshot_file("0192.3:000000007-01")
    'checkpoints/0192.3/000000007-01.npz'
    """
    attempt, _, snapshot = pointer.partition(":")
    return f"{CHECKPOINTS}/{attempt}/{snapshot}.npz"


def _is_for_users(name: str) -> bool:
    return not name.startswith((".", "output."))
