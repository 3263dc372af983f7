"""An adopted child: a process that another one forked for this one."""

import asyncio
import os

UNKNOWN = 255
"""The exit status of a process whose status was lost, as asyncio has it."""


class Adopted:
    """Waits for the process; has what Process needs of `asyncio.subprocess.Process`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()
        self._handle = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(self._handle, self._see)

    def send_signal(self, number: int) -> None:
        """Send it a signal. Until it was waited for its number is nobody else's."""
        os.kill(self.pid, number)

    async def wait(self) -> int:
        """Wait for its end; return the exit status, or less than 0 for a signal."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def _see(self) -> None:
        try:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:  # somebody else has waited; the system, where SIGCHLD is ignored
            self.returncode = UNKNOWN
        asyncio.get_running_loop().remove_reader(self._handle)
        os.close(self._handle)
        self._ended.set()
