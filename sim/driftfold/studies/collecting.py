"""From run folders to values."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from driftfold.studies.cells import Cell
from driftfold.studies.logbook import State, software_of, state_of
from driftfold.studies.values import Series, Values
from driftfold.telemetry.reader import each_record


def collect(
    cells: Collection[Cell],
    root: Path,
    of_rounds: Sequence[str] = (),
    absent: Collection[str] = (),
) -> Values:
    """Return what the finished cells measured; `of_rounds` as in `read_series`.

    All cells were to be run, but for those of the experiments that are `absent`.
    """
    done = (cell for cell in cells if is_done(cell, root))
    series = {cell.key: read_series(cell.folder(root), of_rounds) for cell in done}
    return Values(series, frozenset(c.key for c in cells if c.experiment not in absent))


def is_done(cell: Cell, root: Path) -> bool:
    """Whether a cell's folder holds its whole run, on this software."""
    return state_of(cell.folder(root), cell.digest, software_of(cell.spec)) is State.DONE


def read_series(folder: Path, of_rounds: Sequence[str] = ()) -> Series:
    """Return the evaluations of a run's log.

    Of `of_rounds`, values (or times) of rounds, each has the mean over the rounds before it that
    have them.
    """
    told: dict[int, dict[str, float]] = {}
    sums = dict.fromkeys(of_rounds, (0.0, 0))
    for record in each_record(folder):
        if record.kind == "evaluation":
            means = {name: total / count for name, (total, count) in sums.items() if count}
            told[record.version] = {**means, **record.values}
        elif record.kind == "round" and of_rounds:
            known = {**record.timing, **record.values}
            for name in of_rounds:
                if name in known:
                    total, count = sums[name]
                    sums[name] = total + known[name], count + 1
    names = {name for values in told.values() for name in values}
    return Series(
        np.array(list(told), dtype=np.int64),
        {
            name: np.array([values.get(name, np.nan) for values in told.values()])
            for name in sorted(names)
        },
    )
