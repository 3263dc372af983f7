"""Following a job: a stream of server-sent events read as values, each exactly once.

Nothing here touches the network; both clients put bytes in and take values out.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import from_json
from driftfold_api.errors import ServiceError
from driftfold_api.models import End, Lifecycle, Waiting

Event: TypeAlias = Record | Lifecycle | Waiting | End
"""What a stream tells: a record, what happened to the job or what it waits for, that it is over."""


@dataclass
class Frame:
    """One event as it was sent."""

    id: str | None = None
    name: str = "message"
    data: str = ""


class Frames:
    r"""Cuts bytes into frames, wherever the network has cut them.

    >>> frames = Frames()
    >>> list(frames.feed(b"id: 1\nda")), list(frames.feed(b"ta: x\n\n: ping\n\n"))
    ([], [Frame(id='1', name='message', data='x')])
    """

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete now."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line := line.removesuffix(b"\r"):
                self._lines.append(line)
            elif (frame := _frame(self._lines)) is not None:
                self._lines = []
                yield frame
            else:
                self._lines = []


class Position:
    """How far a follower has come, over any number of connections."""

    def __init__(self, after: int = 0, lifecycle_after: int = 0) -> None:
        self.after = after
        self.lifecycle_after = lifecycle_after
        self.over = False
        self._waits_for: object = None

    @property
    def params(self) -> dict[str, int]:
        """What to ask for next."""
        return {"after": self.after, "lifecycle_after": self.lifecycle_after}

    def take(self, frame: Frame) -> Event | None:
        """Return what a frame tells, or None when it tells nothing new."""
        try:
            return self._take(frame.name, json.loads(frame.data))
        except (ValueError, KeyError, RecordError) as error:
            raise ServiceError(f"the stream holds what is no event: {frame!r}") from error

    def _take(self, name: str, table: dict[str, Any]) -> Event | None:
        if name == "message":
            record = from_json(table)
            if record.seq <= self.after:
                return None
            if record.seq > self.after + 1:
                raise ServiceError(
                    f"the stream goes on with record {record.seq} after {self.after}; report this: "
                    "a log has no gaps"
                )
            self.after = record.seq
            return record
        if name == "lifecycle":
            event = Lifecycle.model_validate(table)
            if event.number <= self.lifecycle_after:
                return None
            self.lifecycle_after = event.number
            self._waits_for = None
            return event
        if name == "waiting":
            waiting = Waiting.model_validate(table)
            # Every connection tells it again; of a pause the reason tells the rest.
            known, self._waits_for = self._waits_for, waiting.due or waiting.reason
            return waiting if self._waits_for != known else None
        if name == "end":
            self.over = True
            return End.model_validate(table)
        return None  # a newer service may tell more


def _frame(lines: list[bytes]) -> Frame | None:
    """Return the frame of its lines; None for one that is only a comment or a setting."""
    frame, data = Frame(), []
    for line in lines:
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8")
        if name == b"data":
            data.append(text)
        elif name == b"event":
            frame.name = text
        elif name == b"id":
            frame.id = text
    frame.data = "\n".join(data)
    return frame if data else None
