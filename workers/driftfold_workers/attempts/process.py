"""An attempt's process, seen from the supervisor: order it, hear what it says, end it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Protocol

from driftfold_workers.attempts.frames import FrameDecoder
from driftfold_workers.attempts.messages import Message, from_frame
from driftfold_workers.attempts.order import Order
from driftfold_workers.attempts.readable import until_readable

CHUNK = 1 << 16
GATHER = 0.02  # seconds in which records gather in the pipe


class Child(Protocol):
    """A child of this process: one that asyncio started, or one that was adopted."""

    @property
    def pid(self) -> int:
        """Process number."""

    @property
    def returncode(self) -> int | None:
        """The exit status, or less than 0 for a signal; None while it lives."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal."""

    async def wait(self) -> int:
        """Wait for its end; return the exit status."""


class Process:
    """One child process, the pipe that it talks on, and the one that it listens to."""

    def __init__(self, child: Child, pipe: int, orders: asyncio.WriteTransport) -> None:
        self._child = child
        self._pipe = pipe
        self._orders = orders

    @property
    def pid(self) -> int:
        """Process number."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return self._child.returncode is None

    def order(self, order: Order) -> None:
        """Tell the process what to do."""
        self._say(order.to_line())

    def confirm(self, snapshot: str) -> None:
        """Tell the process that the job's log vouches for a snapshot."""
        self._say(snapshot.encode() + b"\n")

    async def messages(self) -> AsyncIterator[Message]:
        """Yield what the process says, until it says no more."""
        decoder = FrameDecoder()
        while chunk := await self._read():
            for frame in decoder.feed(chunk):
                yield from_frame(frame)
            if len(chunk) < CHUNK:  # to wake up for each record would cost more than all the rest
                await asyncio.sleep(GATHER)

    def stop(self) -> None:
        """Ask it to stop at the end of the round."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it now."""
        self._signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end; return the exit status, or less than 0 for a signal."""
        return await self._child.wait()

    async def dismiss(self) -> None:
        """See that it is gone and nothing of it is left here."""
        self.kill()
        os.close(self._pipe)
        if not self._orders.is_closing():
            self._orders.abort()
        await self._child.wait()

    async def _read(self) -> bytes:
        await until_readable(self._pipe)
        return os.read(self._pipe, CHUNK)

    def _say(self, line: bytes) -> None:
        if self.alive and not self._orders.is_closing():
            self._orders.write(line)

    def _signal(self, number: signal.Signals) -> None:
        if self.alive:
            with suppress(ProcessLookupError):
                self._child.send_signal(number)


def describe_exit(status: int, *, starved: bool = False) -> str:
    """Return in words how a process ended that did not say why.

    `starved`: the system has killed some process meanwhile because memory ran out.

    >>> describe_exit(-9)
    'the process was killed by SIGKILL (out of memory?)'
    >>> describe_exit(-9, starved=True)
    "the process was killed by SIGKILL: the machine, or the worker's share of it, was out of memory"
    >>> describe_exit(3)
    'the process exited with status 3 before the run was over'
    """
    if status >= 0:
        return f"the process exited with status {status} before the run was over"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = " (out of memory?)" if -status == signal.SIGKILL else ""
    if hint and starved:
        hint = ": the machine, or the worker's share of it, was out of memory"
    return f"the process was killed by {name}{hint}"
