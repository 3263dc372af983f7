"""Tables of measured devices, as files hold them."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftfold.arrays import Floats
from driftfold.errors import DataError

COLUMNS = ("seconds_per_sample", "down_bytes_s", "up_bytes_s")
TRAINING = 3.0  # a backward pass takes about twice as long as the inference that was timed
KBIT = 1024 / 8  # bytes; FedScale divides by 1024

_WANTED = (
    f"wanted .csv with the columns {', '.join(COLUMNS)} and client or device, or .json as "
    '{"1": {"computation": 162.0, "communication": 5648.1}, ...}'
)


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """Measured devices, one a row: arrays of shape (rows,).

    Attributes
    ----------
    owners
        What each row is of: a client's number or the name of a device, as the file writes it.
    seconds
        Seconds for one sample gradient.
    down, up
        Rates in bytes per second.
    """

    owners: tuple[str, ...]
    seconds: Floats
    down: Floats
    up: Floats


def read_table(path: Path) -> DeviceTable:
    """Read a table; raises `DataError` when there is none, or values that no device has."""
    reader = {".csv": _from_csv, ".json": _from_json}.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path} is no table of devices; {_WANTED}; pickles are never read")
    try:
        owners, rows = reader(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"cannot read {path} ({reason}); {_WANTED}") from None
    except (ValueError, OverflowError, RecursionError, csv.Error) as error:
        raise DataError(f"{path} is no table of devices ({error}); {_WANTED}") from None
    values = np.array(rows, np.float64).reshape(-1, 3)
    _check(path, owners, values)
    seconds, down, up = np.ascontiguousarray(values.T)
    return DeviceTable(tuple(owners), seconds, down, up)


def _from_csv(text: str) -> tuple[list[str], list[list[float]]]:
    lines = [row for row in csv.reader(text.splitlines()) if row]
    names = [name.strip() for name in lines[0]] if lines else []
    rows = lines[1:]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ValueError(f"it has no column {missing[0]}")
    owner = next((names.index(name) for name in ("client", "device") if name in names), None)
    if any(len(row) != len(names) for row in rows):
        raise ValueError("it has rows of another length than the line of names")
    places = [names.index(name) for name in COLUMNS]
    owners = ["" if owner is None else row[owner].strip() for row in rows]
    return owners, [[float(row[place]) for place in places] for row in rows]


def _from_json(text: str) -> tuple[list[str], list[list[float]]]:
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError("it is no table of clients")
    rows = []
    for owner, record in table.items():
        if not isinstance(record, dict):
            raise ValueError(f"the entry {owner!r} is no table")
        inference = _number(owner, record, "computation") / 1000
        rate = KBIT * _number(owner, record, "communication")
        rows.append([TRAINING * inference, rate, rate])
    return list(table), rows


def _number(owner: str, record: dict[str, Any], name: str) -> float:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} of the entry {owner!r} is {value!r}")
    return float(value)


def _check(path: Path, owners: Sequence[str], values: Floats) -> None:
    if not len(values):
        raise DataError(f"{path} has no rows; {_WANTED}")
    low, high = [0, 1e-9, 1e-9], [1e9, np.inf, np.inf]  # so that every delay is finite
    sound = (np.isfinite(values) & (values >= low) & (values <= high)).all(1)
    wrong = np.flatnonzero(~sound)
    if wrong.size:
        row = int(wrong[0])
        got = ", ".join(f"{value:g}" for value in values[row].tolist())
        raise DataError(
            f"row {row + 1} of {path} ({owners[row] or 'without a name'}) has {got} for "
            f"{', '.join(COLUMNS)}; wanted seconds from 0 to 1e9 and rates of at least 1e-9: leave "
            "it out"
        )
