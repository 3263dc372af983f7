"""Reading back the log of a run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record
from driftfold.telemetry.detail import DetailFile, detail_name
from driftfold.telemetry.json_form import from_json

LOG = "records.jsonl"
"""Name of the log in a run's folder."""


def read_records(path: Path | str) -> list[Record]:
    """Return the records of a run's folder (or of its records.jsonl), in order.

    A last line that is not whole, as a killed process may leave it, is passed over. Detail is
    read from its file when first looked at. Raises `RecordError` when there is no log or it is
    damaged elsewhere.
    """
    return list(each_record(path))


def each_record(path: Path | str) -> Iterator[Record]:
    """Yield the records one at a time, as `read_records` returns them, in flat memory."""
    log = Path(path)
    log = log / LOG if log.is_dir() else log
    try:
        with log.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                yield _parsed(log, number, line)
    except OSError as error:
        raise RecordError(
            f"cannot read the records {log}: {error.strerror}; give the folder of a run"
        ) from error


def check_line(log: Path, number: int, line: bytes) -> None:
    """Raise `RecordError` unless `line` is the log's record `number`; number 0 is no line."""
    if number:
        _parsed(log, number, line)


def _parsed(log: Path, number: int, line: bytes) -> Record:
    try:
        form: Any = json.loads(line)
    except ValueError as error:
        raise RecordError(f"line {number} of {log} is damaged: {error}") from error
    seq = form.get("seq") if isinstance(form, dict) else None
    if seq != number:
        raise RecordError(
            f"line {number} of {log} holds record {seq}, not {number}; the log was edited or "
            "two runs wrote to it: give each run a folder of its own"
        )
    kept = "detail" in form
    return from_json(form, DetailFile(log.parent / detail_name(number)) if kept else None)
