"""Records as strict JSON: NaN and infinity are legal metrics and become strings.

JSON has no NaN and no infinity. In a record's `time`, `values` and `timing` they are written as
the strings "NaN", "Infinity" and "-Infinity", and read back as floats. Per-client detail is not
part of the line; `detail` holds the name of the file that keeps it.
"""

import math
from collections.abc import Mapping
from json import JSONEncoder
from typing import Any

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record

_encode = JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(record: Record, detail: str | None = None) -> dict[str, Any]:
    """Return the record as a dict for strict JSON; `detail` names the file of its detail.

    >>> to_json(Record(1, "round", 2.5, 1, {"loss": math.nan}))["values"]
    {'loss': 'NaN'}
    """
    form: dict[str, Any] = {
        "seq": record.seq,
        "kind": record.kind,
        "time": to_json_number(record.time),
        "version": record.version,
        "values": {name: to_json_number(value) for name, value in record.values.items()},
    }
    if record.timing:
        form["timing"] = {name: to_json_number(value) for name, value in record.timing.items()}
    if record.note:
        form["note"] = record.note
    if detail is not None:
        form["detail"] = detail
    return form


def from_json(form: Mapping[str, Any], detail: Mapping[str, Any] | None = None) -> Record:
    """Return the record that `to_json` wrote; `detail` are its arrays, if it has any.

    >>> from_json({"seq": 1, "kind": "round", "time": "Infinity", "version": 1, "values": {}}).time
    inf
    """
    try:
        return Record(
            seq=form["seq"],
            kind=form["kind"],
            time=_number_in(form["time"]),
            version=form["version"],
            values={name: _number_in(value) for name, value in form["values"].items()},
            timing={name: _number_in(value) for name, value in form.get("timing", {}).items()},
            note=form.get("note", ""),
            detail=detail,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"this is no record: {form!r}; it lacks or mistypes {error}") from error


def to_line(record: Record, detail: str | None = None) -> bytes:
    """Return the record as one line of ASCII JSON, with its line feed."""
    return _encode(to_json(record, detail)).encode("ascii") + b"\n"


def to_json_number(value: float) -> float | str:
    """Return the number, or its name where JSON has no such number.

    >>> [to_json_number(value) for value in (0.5, math.nan, -math.inf)]
    [0.5, 'NaN', '-Infinity']
    """
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _number_in(value: Any) -> float:
    number = _NAMES.get(value) if isinstance(value, str) else value
    if not isinstance(number, int | float):
        raise TypeError(f"the number {value!r}")
    return number
