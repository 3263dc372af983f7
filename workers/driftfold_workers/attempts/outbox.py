"""The outbox: records on their way from the pipe to the job's log, in contiguous batches."""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from driftfold_workers.attempts.frames import FrameError
from driftfold_workers.attempts.messages import Recorded, Saved

ROOM = 4000, 4 << 20  # records, bytes: then the reader waits, the pipe fills, the run waits
BATCH = 500, 256 << 10
LINGER = 0.1  # seconds between appends, so that a thousand rounds a second are ten of them


@dataclass(frozen=True)
class Batch:
    """Records `first`, `first` + 1, ... and what else goes into the log with them.

    Attributes
    ----------
    checkpoint
        Snapshot that is valid after the last of them, or None.
    rounds
        Server steps done by then, or None when no record tells.
    """

    first: int
    lines: list[bytes]
    checkpoint: str | None
    rounds: int | None


class Outbox:
    """Holds what was read and is not yet stored; whoever adds to it waits while it is full."""

    def __init__(self) -> None:
        self._records: deque[Recorded] = deque()
        self._saved: deque[Saved] = deque()
        self._bytes = 0
        self._closed = False
        self._endless = False
        self._changed = asyncio.Event()
        self._urgent = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._last: int | None = None

    async def put(self, message: Recorded | Saved) -> None:
        """Add a message, once there is room."""
        await self._room.wait()
        if isinstance(message, Saved):
            self._saved.append(message)
        else:
            if self._last is not None and message.seq != self._last + 1:
                raise FrameError(f"record {message.seq} came after record {self._last}")
            self._last = message.seq
            self._records.append(message)
            self._bytes += len(message.line)
        self._mind()
        self._changed.set()

    def close(self) -> None:
        """Say that nothing follows."""
        self._closed = True
        self._mind()
        self._changed.set()

    def lift_limit(self) -> None:
        """Let everything in: the process is gone, and what it left in the pipe is little."""
        self._endless = True
        self._mind()

    async def batch(self) -> Batch | None:
        """Wait for records or a snapshot, and take the next batch; None after the last."""
        while not (self._records or self._saved):
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._take()

    async def gather(self) -> None:
        """Wait for more to come, unless somebody waits for what is there."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await self._urgent.wait()

    def _take(self) -> Batch:
        # A batch ends where a snapshot is valid, so that one step stores both.
        upto = self._saved[0].seq if self._saved else None
        lines: list[bytes] = []
        size, first, rounds = 0, None, None
        while self._records and (upto is None or self._records[0].seq <= upto):
            if lines and (len(lines) >= BATCH[0] or size >= BATCH[1]):
                break
            record = self._records.popleft()
            first = first or record.seq
            size += len(record.line)
            lines.append(record.line)
            rounds = record.version
        self._bytes -= size
        checkpoint = None
        if upto is not None and not (self._records and self._records[0].seq <= upto):
            checkpoint = self._saved.popleft().name
        self._mind()
        return Batch(first or (upto or 0) + 1, lines, checkpoint, rounds)

    def _mind(self) -> None:
        """Open or shut the door, and see whether the next batch can wait for more."""
        full = len(self._records) >= ROOM[0] or self._bytes >= ROOM[1]
        _put(self._room, self._endless or not full)
        many = len(self._records) >= BATCH[0] or self._bytes >= BATCH[1]
        _put(self._urgent, self._closed or bool(self._saved) or many)


def _put(event: asyncio.Event, on: bool) -> None:
    if on:
        event.set()
    else:
        event.clear()
