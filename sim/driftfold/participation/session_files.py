"""Files of recorded sessions: our own tables, FedScale's and FLASH's records.

Both projects publish large pickles or JSON. A pickle may run any code, so none is read here. What
is read may be written as our own table, once: ``read_sessions(path).write(target)``.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from driftfold.errors import CapabilityError, DataError
from driftfold.participation.flash_states import ready
from driftfold.participation.session_table import SessionTable, table_of

_WANTED = (
    "wanted .csv or .parquet with the columns client, start, end (and period, or not), or .json of "
    'FedScale, {"1": {"active": [...], "inactive": [...], "finish_time": ...}}, or of FLASH, '
    '{"a": {"messages": "..."}}'
)


def read_sessions(path: Path) -> SessionTable:
    r"""Return the sessions of a .csv, .parquet or .json file; raises `DataError`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sessions.csv"
    >>> path.write_text("client,start,end\n0,0,50\n1,20,30\n0,90,95\n")
    40
    >>> read_sessions(path).starts.tolist()
    [0.0, 90.0, 20.0]
    """
    try:
        if path.suffix == ".csv":
            return table_of(_csv(path), path)
        if path.suffix == ".parquet":
            return table_of(_parquet(path), path)
        if path.suffix == ".json":
            return table_of(_json(path), path)
    except OSError as error:
        raise DataError(f"cannot read {path} ({error.strerror}); check the path") from None
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error) as error:
        raise DataError(f"{path} is damaged ({error}); {_WANTED}") from None
    raise DataError(f"{path} is of no known kind; {_WANTED}")


def _csv(path: Path) -> Iterator[tuple[str, list[tuple[float, float]], float | None]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        names = rows.fieldnames or []
        if not {"client", "start", "end"} <= set(names):
            raise DataError(f"{path} has the columns {', '.join(names) or 'none'}; {_WANTED}")
        yield from _gathered(rows, path)


def _parquet(path: Path) -> Iterator[tuple[str, list[tuple[float, float]], float | None]]:
    if not path.is_file():
        raise DataError(f"cannot read {path} (No such file); check the path")
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        raise CapabilityError(
            f"{path} is a Parquet file, which needs pyarrow; install driftfold[parquet], or "
            "convert the file to .csv"
        ) from None
    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except ArrowException as error:
        raise DataError(f"{path} is damaged ({error}); {_WANTED}") from None
    if rows and not {"client", "start", "end"} <= set(rows[0]):
        raise DataError(f"{path} has the columns {', '.join(rows[0])}; {_WANTED}")
    yield from _gathered(rows, path)


def _gathered(
    rows: Iterable[Mapping[str, Any]], path: Path
) -> Iterator[tuple[str, list[tuple[float, float]], float | None]]:
    """Sessions by user, in the order in which users first appear."""
    sessions: dict[str, list[tuple[float, float]]] = {}
    periods: dict[str, float | None] = {}
    for number, row in enumerate(rows, 1):
        try:
            user, session = str(row["client"]), (float(row["start"]), float(row["end"]))
            told = row.get("period")
            period = None if told in (None, "") else float(told)
        except (TypeError, ValueError):
            raise DataError(f"{path}: row {number} is {dict(row)}; {_WANTED}") from None
        if periods.setdefault(user, period) != period:
            raise DataError(
                f"{path}: row {number} gives user {user!r} a period of {period}, an earlier one "
                f"{periods[user]}; give each user one"
            )
        sessions.setdefault(user, []).append(session)
    for user, own in sessions.items():
        yield user, own, periods[user]


def _json(path: Path) -> Iterator[tuple[str, list[tuple[float, float]], float | None]]:
    record = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(record, dict) or not all(isinstance(own, dict) for own in record.values()):
        raise DataError(f"{path} is no table of users; {_WANTED}")
    if all("messages" in own for own in record.values()):
        states = {str(user): str(own["messages"]) for user, own in record.items()}
        yield from ((user, own, None) for user, own in ready(states, path))
        return
    for user, own in record.items():
        try:
            period = float(own["finish_time"])
            starts, ends = [[float(t) for t in own[name]] for name in ("active", "inactive")]
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{path}: user {user!r} has no such record; {_WANTED}") from None
        if len(starts) == len(ends) + 1:  # on when the record ends
            ends.append(period)
        if len(starts) != len(ends):
            raise DataError(
                f"{path}: user {user!r} comes {len(starts)} times but goes {len(ends)} times; "
                f"{_WANTED}"
            )
        yield str(user), list(zip(starts, ends, strict=True)), period
