"""Reading a stream: frames however they are cut, each value once."""

import json
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold.telemetry.base import Record
from driftfold_api import frames
from driftfold_api.client.events import Frames, Position
from driftfold_api.errors import ServiceError
from driftfold_api.models import End, Lifecycle, Waiting
from driftfold_workers.jobs.job import Job, LifecycleEvent, State
from tests.api.serving import lines

EVENT = LifecycleEvent(1, "lost", 1.5, {"reason": "Ä\r\n\u2028", "seq": 2})
SENT = b"".join(
    [
        frames.retry(1000),
        frames.record(1, lines(1, 1, "a\u2028b")[0]),
        frames.PING,
        frames.record(2, lines(2, 2)[0]),
        frames.lifecycle(EVENT),
        frames.end("j", State.FAILED, "é\nü", 2),
    ]
)


@given(st.lists(st.integers(0, len(SENT)), max_size=20))
def test_frames_are_found_wherever_the_network_cuts(cuts: list[int]) -> None:
    marks = [0, *sorted(cuts), len(SENT)]
    reader, position = Frames(), Position()
    events = []
    for start, stop in pairwise(marks):
        events += [position.take(frame) for frame in reader.feed(SENT[start:stop])]
    one, two, lost, end = events
    assert isinstance(one, Record)
    assert isinstance(two, Record)
    assert (one.note, two.seq) == ("a\u2028b", 2)
    assert isinstance(lost, Lifecycle)
    assert lost.facts == EVENT.facts
    assert end == End(id="j", state=State.FAILED, reason="é\nü", seq=2)
    assert position.over
    assert position.params == {"after": 2, "lifecycle_after": 1}


@given(st.text(), st.integers(1, 10**6))
def test_any_text_survives_a_frame(note: str, number: int) -> None:
    table = {"seq": 1, "kind": "round", "time": 0.0, "version": 0, "values": {}, "note": note}
    text = json.dumps(table).encode()
    (frame,) = Frames().feed(frames.record(number, text))
    assert (frame.id, json.loads(frame.data)) == (str(number), table)


def test_what_comes_twice_is_told_once_and_a_gap_is_an_error() -> None:
    position = Position(after=1)
    reader = Frames()

    def take(number: int) -> object:
        (frame,) = reader.feed(frames.record(number, lines(number, number)[0]))
        return position.take(frame)

    assert take(1) is None
    assert isinstance(take(2), Record)
    assert take(2) is None
    with pytest.raises(ServiceError, match="record 4 after 2"):
        take(4)
    (frame,) = reader.feed(b"event: news\ndata: {}\n\n")
    assert position.take(frame) is None  # of a newer service
    (frame,) = reader.feed(b"data: {\n\n")
    with pytest.raises(ServiceError, match="no event"):
        position.take(frame)


def test_the_client_needs_neither_torch_nor_the_server() -> None:
    code = (
        "import sys; from driftfold_api.client import Client; "
        "print(sorted({'torch', 'geoopt', 'fastapi', 'uvicorn', 'redis', 'matplotlib'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_what_a_job_waits_for_is_told_once_until_it_changes() -> None:
    reader, position = Frames(), Position()

    def told(reason: str, due: float | None = None) -> bool:
        job = Job("j", {}, (), State.QUEUED, reason=reason, due=due)
        (frame,) = reader.feed(frames.waiting(job))
        event = position.take(frame)
        assert event is None or event == Waiting.of(job)
        return event is not None

    assert [told("no worker"), told("no worker"), told(""), told("no worker")] == [1, 0, 1, 1]
    assert [told("retry in 3 s: x", 9.0), told("retry in 2 s: x", 9.0)] == [1, 0]
    assert told("retry in 3 s: x", 12.0)
    (frame,) = reader.feed(frames.lifecycle(EVENT))
    position.take(frame)
    assert told("retry in 1 s: x", 12.0)  # it is queued once more
