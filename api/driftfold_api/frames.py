"""Frames of a stream of server-sent events, as the HTML standard writes them.

In the stream of one job only records have an id, their number in the log, so that `Last-Event-ID`
is always a position in the log; everything else has an event name instead. In that of many jobs
each event names its job, and its id is a cursor: the position in every log.
"""

import json
from collections.abc import Sequence
from typing import Any

from driftfold_api.models import End, Gap, Lifecycle, Reset, Waiting
from driftfold_workers.jobs.job import Job, LifecycleEvent

PING = b": ping\n\n"


def record(number: int, text: bytes) -> bytes:
    r"""Return the frame of a record.

    >>> record(7, b'{"seq":7}\n')
    b'id: 7\ndata: {"seq":7}\n\n'
    """
    # JSON on several lines is legal; outside of texts, where none can be, a line's end is space.
    return b"id: %d\ndata: %b\n\n" % (number, b" ".join(text.strip().splitlines()))


def records(job: str, told: Sequence[bytes], cursor: str) -> bytes:
    r"""Return the frame of records of one among many jobs, made of their own frames.

    >>> records("J", [record(7, b"{}"), record(8, b"[]")], "c")
    b'id: c\nevent: records\ndata: {"job": "J", "records": [{},[]]}\n\n'
    """
    texts = b",".join([frame[frame.index(b"data: ") + 6 : -2] for frame in told])
    head = f'id: {cursor}\nevent: records\ndata: {{"job": "{job}", "records": ['.encode("ascii")
    return b"%b%b]}\n\n" % (head, texts)


def of_job(frame: bytes, job: str, cursor: str | None) -> bytes:
    r"""Return the frame of another event as it is told of one among many jobs.

    >>> of_job(end("J", "succeeded", "", 8), "J", "c")[:45]
    b'id: c\nevent: end\ndata: {"job": "J", "id": "J"'
    """
    place = b"" if cursor is None else f"id: {cursor}\n".encode("ascii")
    return place + frame.replace(b"data: {", f'data: {{"job": "{job}", '.encode("ascii"), 1)


def lifecycle(event: LifecycleEvent) -> bytes:
    """Return the frame of a lifecycle event."""
    return _named("lifecycle", Lifecycle.of(event).model_dump(mode="json"))


def waiting(job: Job) -> bytes:
    """Return the frame that tells what a queued job waits for."""
    return _named("waiting", Waiting.of(job).model_dump(mode="json"))


def gap(job: str, first: int, last: int) -> bytes:
    """Return the frame that tells which records nobody has any more."""
    return _named("gap", Gap(id=job, first=first, last=last).model_dump(mode="json"))


def reset(cursor: str) -> bytes:
    """Return the frame that says that jobs may have begun, and ended, of which nothing is told."""
    told = Reset(reason="it is not known any more which jobs began since then; list them")
    return f"id: {cursor}\n".encode("ascii") + _named("reset", told.model_dump(mode="json"))


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
