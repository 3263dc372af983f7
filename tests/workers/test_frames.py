"""Messages on a pipe arrive whole, in order, however the bytes are cut."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold_workers.attempts.frames import (
    HEADER,
    LIMIT,
    Frame,
    FrameDecoder,
    FrameError,
    encode_frame,
    write_frame,
)
from driftfold_workers.attempts.messages import (
    Done,
    Failed,
    Message,
    Recorded,
    Saved,
    Stopped,
    from_frame,
    to_frame,
)

FRAMES = st.lists(st.builds(Frame, st.integers(0, 255), st.binary(max_size=300)), max_size=20)


@given(FRAMES, st.lists(st.integers(1, 700), max_size=40))
def test_frames_survive_any_cuts(frames: list[Frame], cuts: list[int]) -> None:
    stream = b"".join(map(encode_frame, frames))
    decoder, got = FrameDecoder(), []
    for cut in [*cuts, len(stream)]:
        got += decoder.feed(stream[:cut])
        stream = stream[cut:]
    assert got == frames
    assert decoder.rest == 0


@given(FRAMES.filter(bool), st.data())
def test_a_frame_that_was_cut_off_is_not_told(frames: list[Frame], data: st.DataObject) -> None:
    last = len(encode_frame(frames[-1]))
    stream = b"".join(map(encode_frame, frames))
    short = stream[: len(stream) - data.draw(st.integers(1, last))]
    decoder = FrameDecoder()
    assert decoder.feed(short) == frames[:-1]
    assert decoder.rest == len(short) - (len(stream) - last)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(FrameError, match="something else was written"):
        FrameDecoder().feed(HEADER.pack(LIMIT + 1, 1))
    with pytest.raises(FrameError, match="kind 77"):
        from_frame(Frame(77, b""))


def test_a_frame_larger_than_the_pipe_is_written_whole() -> None:
    ours, its = os.pipe()
    frame = Frame(3, os.urandom(1 << 20))

    def write() -> None:
        write_frame(its, frame)
        os.close(its)

    writing = threading.Thread(target=write)
    writing.start()
    decoder, got = FrameDecoder(), []
    while data := os.read(ours, 5000):
        got += decoder.feed(data)
    writing.join()
    os.close(ours)
    assert got == [frame]


NUMBERS = st.integers(0, 2**63)
MESSAGES = st.one_of(
    st.builds(Recorded, NUMBERS, NUMBERS, st.binary()),
    st.builds(Saved, st.text(max_size=60), NUMBERS),
    st.builds(Done, st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False))),
    st.builds(Stopped),
    st.builds(Failed, st.text(), st.text(), st.booleans()),
)


@given(MESSAGES)
def test_messages_are_read_as_they_were_written(message: Message) -> None:
    assert from_frame(to_frame(message)) == message
