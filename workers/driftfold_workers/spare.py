"""The spare process: the next attempt finds its process started and its imports done."""

import asyncio
from contextlib import suppress

from driftfold_workers.process import Process


class Spare:
    """Keeps one process ready."""

    def __init__(self) -> None:
        self._next: asyncio.Task[Process] | None = None

    def prepare(self) -> None:
        """Start a process for the next attempt, unless there is one."""
        if self._next is None:
            self._next = asyncio.create_task(Process.start(), name="spare process")

    async def take(self) -> Process:
        """Return a process that waits for its order; a new one is prepared."""
        self.prepare()
        assert self._next is not None
        taken, self._next = self._next, None
        process = await taken
        if not process.alive:
            await process.dismiss()
            process = await Process.start()
        self.prepare()
        return process

    async def dismiss(self) -> None:
        """Let the spare process go."""
        if self._next is not None:
            taken, self._next = self._next, None
            with suppress(OSError):  # there is none
                await (await taken).dismiss()
