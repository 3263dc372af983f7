"""Frames of a stream of server-sent events, as the HTML standard writes them.

Only records have an id, their number in the log, so that `Last-Event-ID` is always a position in
the log. Everything else has an event name instead.
"""

import json
from typing import Any

from driftfold_api.models import End, Lifecycle, Waiting
from driftfold_workers.job import Job, LifecycleEvent

PING = b": ping\n\n"


def record(number: int, text: bytes) -> bytes:
    r"""Return the frame of a record.

    >>> record(7, b'{"seq":7}\n')
    b'id: 7\ndata: {"seq":7}\n\n'
    """
    # JSON on several lines is legal and stays so: each line is a data line of its own.
    lines = b"".join(b"data: " + line + b"\n" for line in text.strip().splitlines())
    return b"id: %d\n%b\n" % (number, lines)


def lifecycle(event: LifecycleEvent) -> bytes:
    """Return the frame of a lifecycle event."""
    return _named("lifecycle", Lifecycle.of(event).model_dump(mode="json"))


def waiting(job: Job) -> bytes:
    """Return the frame that tells what a queued job waits for."""
    return _named("waiting", Waiting.of(job).model_dump(mode="json"))


def end(job: str, state: Any, reason: str, seq: int) -> bytes:
    """Return the last frame of a stream."""
    told = End(id=job, state=state, reason=reason, seq=seq)
    return _named("end", told.model_dump(mode="json"))


def retry(milliseconds: int) -> bytes:
    r"""Return the frame that says when to come back after a connection was lost.

    >>> retry(500)
    b'retry: 500\n\n'
    """
    return b"retry: %d\n\n" % milliseconds


def _named(name: str, table: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(table)}\n\n".encode("ascii")
