"""An attempt's process, seen from the supervisor: start it, order it, hear what it says."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from driftfold_workers.frames import FrameDecoder
from driftfold_workers.messages import Message, from_frame
from driftfold_workers.order import Order

CHUNK = 1 << 16
GATHER = 0.02  # seconds in which records gather in the pipe
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Process:
    """One child process and the pipe that it talks on."""

    def __init__(self, child: asyncio.subprocess.Process, pipe: int) -> None:
        self._child = child
        self._pipe = pipe

    @classmethod
    async def start(cls) -> Self:
        """Start a process that waits for its order."""
        ours, its = os.pipe()
        try:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "driftfold_workers.child", str(its)),
                str(os.getpid()),
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(its,),
                start_new_session=True,  # signals of the terminal are for the supervisor
                env={**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": _path()},
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(its)
        os.set_blocking(ours, False)
        return cls(child, ours)

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
        if self._child.stdin is not None:
            self._child.stdin.close()
        await self._child.wait()

    async def _read(self) -> bytes:
        # Not through asyncio's transports: they would read on while nobody takes what they read.
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(self._pipe, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._pipe)
        return os.read(self._pipe, CHUNK)

    def _say(self, line: bytes) -> None:
        stdin = self._child.stdin
        if self.alive and stdin is not None and not stdin.is_closing():
            stdin.write(line)

    def _signal(self, number: signal.Signals) -> None:
        if self.alive:
            with suppress(ProcessLookupError):
                self._child.send_signal(number)


def describe_exit(status: int) -> str:
    """Return in words how a process ended that did not say why.

    >>> describe_exit(-9)
    'the process was killed by SIGKILL (out of memory?)'
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
    return f"the process was killed by {name}{hint}"


def _path() -> str:
    # The process finds the same modules as its supervisor, in whatever way that was started.
    return os.pathsep.join(str(Path(place).absolute()) for place in sys.path)
