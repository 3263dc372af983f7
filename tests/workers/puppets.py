"""A process of an attempt that is none: what it says and when it ends is up to the test."""

import asyncio
import os

from driftfold_workers.attempts.frames import write_frame
from driftfold_workers.attempts.messages import Message, to_frame
from driftfold_workers.attempts.process import Process


class Child:
    """Stands in for a child of this process: any signal ends it."""

    pid = 0

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

    async def wait(self) -> int:
        await self._gone.wait()
        assert self.returncode is not None
        return self.returncode


class Deaf(asyncio.WriteTransport):
    """Stands in for the pipe of orders."""

    def is_closing(self) -> bool:
        return False

    def write(self, data: object) -> None:
        pass

    def abort(self) -> None:
        pass


def puppet() -> tuple[Process, Child]:
    """A process, and the strings to pull."""
    ours, its = os.pipe()
    os.set_blocking(ours, False)
    child = Child(its)
    return Process(child, ours, Deaf()), child
