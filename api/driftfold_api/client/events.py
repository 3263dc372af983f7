"""Following jobs: a stream of server-sent events read as values, each exactly once.

Nothing here touches the network; both clients put bytes in and take values out.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from driftfold.errors import RecordError
from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import from_json
from driftfold_api.cursor import Cursor, Place
from driftfold_api.errors import ServiceError
from driftfold_api.models import End, Gap, Lifecycle, Reset, Waiting

Event: TypeAlias = Record | Lifecycle | Waiting | Gap | End
"""What a stream tells: a record, what happened to the job or what it waits for, which records
nobody has any more, that it is over."""


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
        with _reading(frame):
            return self.learn(frame.name, json.loads(frame.data))

    def learn(self, name: str, table: dict[str, Any]) -> Event | None:
        """Return what an event tells, or None when it tells nothing new."""
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
        if name == "gap":
            gap = Gap.model_validate(table)
            if gap.last <= self.after:
                return None
            self.after = gap.last
            return gap
        if name == "end":
            if self.over:
                return None
            self.over = True
            return End.model_validate(table)
        return None  # a newer service may tell more


class Positions:
    """How far a follower of many jobs has come, over any number of connections.

    Parameters
    ----------
    jobs
        Their ids; None for the jobs that have begun and are not over, and all that begin.
    cursor
        Where to go on: `cursor` of earlier positions. It counts every event that was yielded.
    """

    def __init__(self, jobs: Iterable[str] | None = None, cursor: str | None = None) -> None:
        self.jobs = None if jobs is None else tuple(dict.fromkeys(jobs))
        self._turn: int | None = None
        self._places: dict[str, Position] = {}
        if cursor is not None:
            self._begin(Cursor.read(cursor))

    @property
    def over(self) -> bool:
        """Whether every job is; those that begin never are."""
        return self.jobs is not None and all(
            job in self._places and self._places[job].over for job in self.jobs
        )

    @property
    def cursor(self) -> str | None:
        """What to go on from; None before anything was told."""
        if not self._places and self._turn is None:
            return None
        places = {
            job: Place(place.after, place.lifecycle_after, place.over)
            for job, place in self._places.items()
        }
        return Cursor(places, self._turn).text

    @property
    def params(self) -> dict[str, str]:
        """What to ask for next."""
        jobs = {} if self.jobs is None else {"jobs": ",".join(self.jobs)}
        return jobs if (cursor := self.cursor) is None else {**jobs, "cursor": cursor}

    def take(self, frame: Frame) -> Iterator[tuple[str, Event | Reset]]:
        """Yield what a frame tells that is new, each with the id of its job ("": of none)."""
        with _reading(frame):
            table = json.loads(frame.data)
            job = table.pop("job", "")
            place = self._places.setdefault(job, Position()) if job else Position()
            if self.jobs is None and frame.id is not None:
                self._meet(Cursor.read(frame.id))
            if frame.name == "reset":
                yield "", Reset.model_validate(table)
            for name, each in _each(frame.name, table):
                event = place.learn(name, each)
                if event is not None:
                    yield job, event
            if place.over and self.jobs is None and job:
                del self._places[job]

    def _meet(self, cursor: Cursor) -> None:
        """Take note of jobs that have begun, and may have told nothing yet."""
        if cursor.turn != self._turn:
            self._turn = cursor.turn
            for job, known in cursor.places.items():
                self._places.setdefault(job, Position(known.after, known.lifecycle_after))

    def _begin(self, cursor: Cursor) -> None:
        self._turn = cursor.turn
        for job, known in cursor.places.items():
            place = self._places[job] = Position(known.after, known.lifecycle_after)
            place.over = known.over


def _each(name: str, table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if name != "records":
        return [(name, table)]
    return [("message", record) for record in table["records"]]


@contextmanager
def _reading(frame: Frame) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecordError) as error:
        raise ServiceError(f"the stream holds what is no event: {frame!r}") from error


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
