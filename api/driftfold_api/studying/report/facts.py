"""How a study was run: command, versions, machine, times."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from driftfold.checkpoint.fingerprint import take_fingerprint
from driftfold.studies.cells import Cell, distinct
from driftfold.studies.collecting import is_done
from driftfold.studies.logbook import read_note


@dataclass(frozen=True)
class Facts:
    """What another person needs to do the same.

    Attributes
    ----------
    command
        What was typed.
    versions
        Software, by name.
    machine
        Processor cores and system.
    cells, done
        How many runs the grid has, and how many have a result.
    seconds
        Wall time of this call; of a processor core, by all cells together, whenever they ran.
    written
        When the report was written.
    """

    command: str
    versions: Mapping[str, str]
    machine: str
    cells: int
    done: int
    seconds: tuple[float, float]
    written: str


def gather(command: str, root: Path, cells: Sequence[Cell], wall: float) -> Facts:
    """Return how a study in a folder was run."""
    facts = take_fingerprint().facts
    each = distinct(cells)
    notes = [read_note(cell.folder(root)) for cell in each]
    kernels = facts["kernels"]
    return Facts(
        command=command,
        versions={
            "driftfold": str(facts["driftfold"]),
            "Python": str(facts["python"]),
            "NumPy": str(facts["numpy"]),
            "linear algebra": ", ".join(facts["blas"]),
            "kernels": "plain form" if kernels is None else f"C, {kernels}",
        },
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        cells=len(each),
        done=sum(is_done(cell, root) for cell in each),
        seconds=(wall, sum(note.seconds for note in notes if note is not None)),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
