"""Tables of rounds, and what must be in them."""

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from pyarrow import parquet

POSITION = ("seq", "version", "time")


def rows(data: bytes) -> list[dict[str, Any]]:
    """Rows of a Parquet file without what is absent; all numbers as texts, for NaN is not NaN."""
    table = parquet.read_table(io.BytesIO(data)).to_pylist()
    return [
        {name: _plain(value) for name, value in row.items() if value is not None} for row in table
    ]


def rows_of(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that records in their JSON form must give."""
    return [
        {
            **{name: _plain(record[name]) for name in POSITION},
            **{_column(name): _plain(value) for name, value in record["values"].items()},
        }
        for record in records
        if record["kind"] == "round"
    ]


def rows_of_log(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """The rows that a log must give."""
    return rows_of(json.loads(line) for line in lines)


def _column(metric: str) -> str:
    return f"{metric} (metric)" if metric in POSITION else metric


def _plain(value: Any) -> str:
    return repr(float(value))
