"""Frames: messages of any length on a pipe, each with its length and a kind before it."""

import os
import struct
from dataclasses import dataclass

from driftfold.errors import DriftfoldError

HEADER = struct.Struct(">IB")  # length of the body in bytes, kind
LIMIT = 1 << 28  # bytes of one body: more is a broken stream, not a message


class FrameError(DriftfoldError):
    """Bytes on a pipe that are no frames."""


@dataclass(frozen=True)
class Frame:
    """One message: a number that says what it is, and its bytes."""

    kind: int
    body: bytes


def encode_frame(frame: Frame) -> bytes:
    """Return the frame as bytes."""
    if len(frame.body) > LIMIT:
        raise FrameError(
            f"a message of {len(frame.body):,} bytes is too long for a frame of at most {LIMIT:,}; "
            "put bulk data into a file and send its name"
        )
    return HEADER.pack(len(frame.body), frame.kind) + frame.body


class FrameDecoder:
    """Cuts a stream of bytes, fed in pieces of any size, into frames.

    >>> decoder = FrameDecoder()
    >>> sent = encode_frame(Frame(1, b"one")) + encode_frame(Frame(2, b"two"))
    >>> decoder.feed(sent[:10])
    [Frame(kind=1, body=b'one')]
    >>> decoder.feed(sent[10:])
    [Frame(kind=2, body=b'two')]
    """

    def __init__(self) -> None:
        self._held = bytearray()

    @property
    def rest(self) -> int:
        """Bytes of a frame that is not yet whole."""
        return len(self._held)

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that are whole now, in order; `FrameError` if these are no frames."""
        held = self._held
        held += data
        frames: list[Frame] = []
        start = 0
        while len(held) - start >= HEADER.size:
            length, kind = HEADER.unpack_from(held, start)
            if length > LIMIT:
                raise FrameError(
                    f"a frame claims {length:,} bytes, more than {LIMIT:,}; something else was "
                    "written to the pipe"
                )
            end = start + HEADER.size + length
            if end > len(held):
                break
            frames.append(Frame(kind, bytes(held[start + HEADER.size : end])))
            start = end
        del held[:start]
        return frames


def write_frame(file: int, frame: Frame) -> None:
    """Write a frame to a file descriptor; waits while the pipe is full."""
    left = memoryview(encode_frame(frame))
    while left:
        left = left[os.write(file, left) :]
