"""Runs: the one place that workers and the API all reach, with what jobs leave there."""

import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from driftfold.arrays import Array
from driftfold.checkpoint.base import CheckpointStore
from driftfold.checkpoint.url import open_store
from driftfold.errors import RunError
from driftfold.folder import CHECKPOINTS, MODEL, RESULT, SPEC
from driftfold.npz import write_npz

OUTPUT = "output.txt"
"""What the processes of a job printed, and the tracebacks of those that failed."""


@dataclass(frozen=True)
class Runs:
    """A folder that every worker and the API can reach: ``<folder>/<job id>/`` and snapshots.

    >>> Runs.at("file:///data/runs").folder_of("0192")
    PosixPath('/data/runs/0192')
    """

    folder: Path

    @classmethod
    def at(cls, place: str | Path) -> "Runs":
        """Return the runs at a path, relative to the present folder, or a file:// URL."""
        if isinstance(place, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", place):
            parts = urlsplit(place)
            if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
                raise RunError(
                    f"cannot keep runs at {place!r}; give a path or a file:///folder that all "
                    "workers and the API share"
                )
            return cls(Path(unquote(parts.path)))
        return cls(Path(place).absolute())

    @property
    def checkpoints(self) -> CheckpointStore:
        """The snapshots of all attempts."""
        return open_store(self.folder / CHECKPOINTS)

    def folder_of(self, job: str) -> Path:
        """Return the folder of a job's artefacts."""
        return self.folder / job

    def publish(
        self, job: str, spec: Mapping[str, Any], result: Mapping[str, Any], model: Array
    ) -> None:
        """Write specification, result and model of a finished job, each whole or not at all."""
        folder = self.folder_of(job)
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / SPEC, lambda file: file.write(_text(spec)))
        _replace(folder / MODEL, lambda file: write_npz(file, {"model": model}))
        _replace(folder / RESULT, lambda file: file.write(_text(result)))

    def forget_snapshots(self, job: str, attempts: int) -> None:
        """Remove the snapshots of attempts 1 .. `attempts` of a job that is over."""
        for epoch in range(1, attempts + 1):
            self.checkpoints.forget(attempt_name(job, epoch))


def attempt_name(job: str, epoch: int) -> str:
    """Return the name under which an attempt keeps its snapshots: its own, so none is shared."""
    return f"{job}.{epoch}"


def _text(table: Mapping[str, Any]) -> bytes:
    return (json.dumps(table, indent=2, allow_nan=False) + "\n").encode()


def _replace(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    # A name of its own, because an attempt that was given up may still be writing the same.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
