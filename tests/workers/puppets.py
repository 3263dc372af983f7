"""A process of an attempt that is none: what it says and when it ends is up to the test."""

import asyncio
import os
from typing import Any, cast

from driftfold_workers.frames import write_frame
from driftfold_workers.messages import Message, to_frame
from driftfold_workers.process import Process


class Child:
    """Stands in for `asyncio.subprocess.Process`: any signal ends it."""

    pid = 0
    stdin = None

    def __init__(self, pipe: int) -> None:
        self.returncode: int | None = None
        self._pipe = pipe
        self._gone = asyncio.Event()

    def say(self, *messages: Message) -> None:
        for message in messages:
            write_frame(self._pipe, to_frame(message))

    def end(self, status: int) -> None:
        if self.returncode is None:
            self.returncode = status
            os.close(self._pipe)
            self._gone.set()

    def send_signal(self, number: int) -> None:
        self.end(-number)

    async def wait(self) -> int | None:
        await self._gone.wait()
        return self.returncode


def puppet() -> tuple[Process, Child]:
    """A process, and the strings to pull."""
    ours, its = os.pipe()
    os.set_blocking(ours, False)
    child = Child(its)
    return Process(cast("Any", child), ours), child
