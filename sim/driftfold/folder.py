"""A run's folder: what is in it, and that one process at a time writes there."""

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from driftfold.errors import RunError
from driftfold.result import Result
from driftfold.spec import JobSpec, to_mapping
from driftfold.telemetry.reader import LOG

SPEC, RESULT, MODEL = "spec.json", "result.json", "model.npz"
CHECKPOINTS = "checkpoints"
LOCK = ".lock"

_HELD = (errno.EWOULDBLOCK, errno.EACCES)
_PAUSE = 0.05  # seconds between two looks at a lock


def holds_run(folder: Path) -> bool:
    """Return whether a run has begun to write in the folder."""
    return (folder / LOG).exists()


@contextmanager
def only_writer(folder: Path, noun: str = "run", patience: float = 0.0) -> Iterator[None]:
    """Keep other processes, and other runs of this one, from writing in the folder meanwhile.

    `noun` is what the folder is of, for the refusal: a run, or a study. `patience` is for how many
    seconds to wait for another one that writes there.

    The folder is made if it is missing. The operating system lets go of it when the process dies,
    however it dies. Where it has no such locks (Windows, some network drives) nothing is kept.

    Raises
    ------
    RunError
        Another one writes there, or the folder cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with only_writer(folder), only_writer(folder):
    ...     pass
    Traceback (most recent call last):
    driftfold.errors.RunError: another run writes in ...; wait for its end, or give this run a ...
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise RunError(
            f"cannot write in {folder}: {error.strerror}; give a folder that can be written"
        ) from error
    try:
        _lock(file, folder, noun, patience)
        yield
    finally:
        os.close(file)


def begin(folder: Path, spec: JobSpec, resume: bool) -> None:
    """Write the specification, unless the folder is another run's.

    Raises
    ------
    RunError
        A run is there and is not to be resumed, or it is a run of another specification.
    """
    table = to_mapping(spec)
    if holds_run(folder):
        if not resume:
            raise RunError(
                f"{folder} already holds a run; resume it, or give this run a folder of its own"
            )
        if (folder / SPEC).exists() and not _same(json.loads((folder / SPEC).read_text()), table):
            raise RunError(
                f"{folder} holds a run of another specification; resume it with its own, which is "
                f"in {SPEC}, or give this run a folder of its own"
            )
    write_table(folder / SPEC, table)


def finish(folder: Path, result: Result) -> None:
    """Write the result and the model."""
    np.savez(folder / MODEL, model=result.model)
    write_table(folder / RESULT, result.to_json())


def write_table(path: Path, table: dict[str, Any]) -> None:
    """Write a table of JSON so that whoever is killed meanwhile leaves it whole, or as it was."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(table, indent=2) + "\n")
    part.replace(path)


def _lock(file: int, folder: Path, noun: str, patience: float) -> None:
    if sys.platform == "win32":
        return
    import fcntl

    end = monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in _HELD:
                return
            if monotonic() > end:
                raise RunError(
                    f"another {noun} writes in {folder}; wait for its end, or give this {noun} a "
                    "folder of its own"
                ) from None
        sleep(_PAUSE)


def _same(one: dict[str, object], other: dict[str, object]) -> bool:
    """Whether two tables are one experiment: the name is for people only."""
    return {**one, "name": ""} == {**other, "name": ""}
