"""From run folders to values."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from driftfold.studies.cells import Cell
from driftfold.studies.logbook import State, software_of, state_of
from driftfold.studies.values import Series, Values
from driftfold.telemetry.reader import each_record


def collect(cells: Iterable[Cell], root: Path) -> Values:
    """Return what the finished cells measured."""
    return Values(
        {cell.key: read_series(cell.folder(root)) for cell in cells if is_done(cell, root)}
    )


def is_done(cell: Cell, root: Path) -> bool:
    """Whether a cell's folder holds its whole run, on this software."""
    return state_of(cell.folder(root), cell.digest, software_of(cell.spec)) is State.DONE


def read_series(folder: Path) -> Series:
    """Return the evaluations of a run's log."""
    told = [record for record in each_record(folder) if record.kind == "evaluation"]
    told = list({record.version: record for record in told}.values())
    names = {name for record in told for name in record.values}
    return Series(
        np.array([record.version for record in told], dtype=np.int64),
        {
            name: np.array([record.values.get(name, np.nan) for record in told])
            for name in sorted(names)
        },
    )
