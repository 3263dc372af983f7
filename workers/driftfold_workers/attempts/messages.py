"""Messages: what the process of an attempt tells its supervisor."""

import json
import struct
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from driftfold_workers.attempts.frames import Frame, FrameError

_POSITION = struct.Struct(">QQ")


@dataclass(frozen=True)
class Recorded:
    """A record: its number, the server version it is about, and its line of JSON."""

    KIND: ClassVar[int] = 1
    seq: int
    version: int
    line: bytes

    def body(self) -> bytes:
        """Return the bytes of the message."""
        return _POSITION.pack(self.seq, self.version) + self.line

    @classmethod
    def read(cls, body: bytes) -> "Recorded":
        """Return the message in `body`."""
        seq, version = _POSITION.unpack_from(body)
        return cls(seq, version, body[_POSITION.size :])


@dataclass(frozen=True)
class Saved:
    """A snapshot is stored; the run can go on from it after record `seq`."""

    KIND: ClassVar[int] = 2
    name: str
    seq: int

    def body(self) -> bytes:
        """Return the bytes of the message."""
        return _POSITION.pack(self.seq, 0) + self.name.encode()

    @classmethod
    def read(cls, body: bytes) -> "Saved":
        """Return the message in `body`."""
        return cls(body[_POSITION.size :].decode(), _POSITION.unpack_from(body)[0])


@dataclass(frozen=True)
class Done:
    """The run has come to its end, and its artefacts are written."""

    KIND: ClassVar[int] = 3
    result: dict[str, Any]

    def body(self) -> bytes:
        """Return the bytes of the message."""
        return json.dumps(self.result, allow_nan=False).encode()

    @classmethod
    def read(cls, body: bytes) -> "Done":
        """Return the message in `body`."""
        return cls(json.loads(body))


@dataclass(frozen=True)
class Stopped:
    """The run was asked to stop, and did so at the end of a round, after a snapshot."""

    KIND: ClassVar[int] = 4

    def body(self) -> bytes:
        """Return the bytes of the message."""
        return b""

    @classmethod
    def read(cls, body: bytes) -> "Stopped":
        """Return the message in `body`."""
        return cls()


@dataclass(frozen=True)
class Failed:
    """The run raised.

    Attributes
    ----------
    reason
        What to tell the user.
    trace
        The traceback, for the worker's log.
    final
        Whether another attempt would fail in the same way.
    machine
        Whether the machine was at fault, a full disk say: then the attempt does not count.
    """

    KIND: ClassVar[int] = 5
    reason: str
    trace: str
    final: bool
    machine: bool = False

    def body(self) -> bytes:
        """Return the bytes of the message."""
        return json.dumps([self.reason, self.trace, self.final, self.machine]).encode()

    @classmethod
    def read(cls, body: bytes) -> "Failed":
        """Return the message in `body`."""
        return cls(*json.loads(body))


@dataclass(frozen=True)
class Begun:
    """The run begins now; the process has used `cpu` seconds before, for its imports."""

    KIND: ClassVar[int] = 6
    cpu: float

    def body(self) -> bytes:
        """Return the bytes of the message."""
        return json.dumps(self.cpu).encode()

    @classmethod
    def read(cls, body: bytes) -> "Begun":
        """Return the message in `body`."""
        return cls(float(json.loads(body)))


Message: TypeAlias = Begun | Recorded | Saved | Done | Stopped | Failed

_KINDS: dict[int, type[Message]] = {
    kind.KIND: kind for kind in (Begun, Recorded, Saved, Done, Stopped, Failed)
}


def to_frame(message: Message) -> Frame:
    """Return the frame that carries a message."""
    return Frame(message.KIND, message.body())


def from_frame(frame: Frame) -> Message:
    """Return the message in a frame; `FrameError` if there is none.

    >>> from_frame(to_frame(Recorded(7, 3, b"{}")))
    Recorded(seq=7, version=3, line=b'{}')
    """
    kind = _KINDS.get(frame.kind)
    if kind is None:
        raise FrameError(f"a frame of kind {frame.kind}; wanted one of {sorted(_KINDS)}")
    return kind.read(frame.body)
