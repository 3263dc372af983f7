"""The workers that `driftfold serve` has started, as processes of its own."""

import asyncio
import os
from asyncio.subprocess import Process
from collections.abc import Callable, Sequence
from contextlib import suppress

GRACE = 60.0  # seconds that workers have to give their jobs back
REST = 1.0  # seconds before a worker that died is replaced


class Crew:
    """Workers started alike.

    They have a session of their own, so that Ctrl-C reaches them only through us: first they are
    told to stop, and the job store ends after them.
    """

    def __init__(self, redis: str, arguments: Sequence[str], size: int) -> None:
        self._arguments = arguments
        # In the environment, since command lines can be read by every user of the machine.
        self._environment = {**os.environ, "REDIS_URL": redis}
        self._size = size
        self._processes: list[Process] = []

    async def start(self) -> None:
        """Start them all."""
        while len(self._processes) < self._size:
            self._processes.append(await self._launch())

    async def replace(self) -> list[int]:
        """Start a worker for each that has died, and return their codes."""
        dead = [process for process in self._processes if process.returncode is not None]
        if dead:
            self._processes = [process for process in self._processes if process not in dead]
            await asyncio.sleep(REST)
        await self.start()
        return [process.returncode or 0 for process in dead]

    async def stop(self) -> None:
        """Tell them to stop, and wait until they have; whoever takes too long is killed."""
        self._tell(Process.terminate)
        try:
            async with asyncio.timeout(GRACE):
                await self._wait()
        except TimeoutError:
            self._tell(Process.kill)
            await self._wait()

    def hurry(self) -> None:
        """Tell them again, so that they end their runs at once and give their jobs back."""
        self._tell(Process.terminate)

    async def _launch(self) -> Process:
        return await asyncio.create_subprocess_exec(
            *self._arguments,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )

    def _tell(self, what: Callable[[Process], None]) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                if process.returncode is None:
                    what(process)

    async def _wait(self) -> None:
        await asyncio.gather(*(process.wait() for process in self._processes))
