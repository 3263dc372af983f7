"""Logs: what happens, a line each, as text for people or as JSON for machines.

What a line is about, a job or a request, is bound to it by whoever works at that: see `bind`.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import IO


class Format(StrEnum):
    """For whom the lines are: people, or machines."""

    TEXT = "text"
    JSON = "json"


class Level(StrEnum):
    """How grave what is logged is."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


OURS = ("driftfold", "uvicorn")
"""Loggers whose level can be chosen; of all others warnings are enough."""

_encode = json.JSONEncoder(default=str).encode  # made once: it takes as long as a line
_bound: ContextVar[Mapping[str, object]] = ContextVar(
    "what log lines are about", default=MappingProxyType({})
)


def bind(**facts: object) -> None:
    """Add facts to every line that is logged from here on by this task, and by those it starts."""
    _bound.set({**_bound.get(), **facts})


@contextmanager
def bound(**facts: object) -> Iterator[None]:
    """Add facts to every line that is logged within a block.

    >>> with bound(job="0192"):
    ...     entry = {"msg": "begun", "created": 0.0, "levelname": "INFO"}
    ...     print(JsonLines().format(logging.makeLogRecord(entry)))
    {"time": "1970-01-01T00:00:00.000000Z", "level": "info", "logger": "root", \
"message": "begun", "job": "0192"}
    """
    token = _bound.set({**_bound.get(), **facts})
    try:
        yield
    finally:
        _bound.reset(token)


class JsonLines(logging.Formatter):
    """Writes an entry as one line of JSON.

    It has `time`, `level`, `logger` and `message`; what is bound; the entry's own facts, which are
    given as ``extra={"facts": {...}}``; and with an exception `trace`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        table: dict[str, object] = {
            "time": _moment(record.created),
            "level": (record.levelname or "notset").lower(),
            "logger": record.name or "root",
            "message": record.getMessage(),
        }
        table |= {name: fact for name, fact in _bound.get().items() if name not in table}
        facts: Mapping[str, object] = getattr(record, "facts", {})
        table |= {name: fact for name, fact in facts.items() if name not in table}
        if record.exc_info:
            table["trace"] = self.formatException(record.exc_info)
        return _encode(table)


def _moment(seconds: float) -> str:
    """Return a Unix time as ISO 8601 has it.

    >>> _moment(1_700_000_000.25)
    '2023-11-14T22:13:20.250000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def configure(form: Format, level: Level, stream: IO[str] | None = None) -> None:
    """Let this process log to a stream, by default standard error.

    Parameters
    ----------
    form
        Text is the message alone; JSON is that of `JsonLines`.
    level
        What is less than that is left out.
    stream
        Where to.
    """
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines() if form is Format.JSON else logging.Formatter("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(form is Format.JSON)
