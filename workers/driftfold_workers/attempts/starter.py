"""Starting processes of attempts."""

import asyncio
import os
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from driftfold_workers.attempts.process import Child, Process

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Starter(ABC):
    """A way to start processes that wait for their orders."""

    async def start(self, *, torch: bool = False) -> Process:
        """Start a process, for a run that computes with torch or for another.

        Raises
        ------
        OSError
            None can be started now.
        """
        told, tell = os.pipe()
        hear, say = os.pipe()
        orders = None
        try:
            orders = await _writer(say)
            child = await self._begin(hear, tell, torch=torch)
        except BaseException:
            os.close(told)
            if orders is not None:
                orders.abort()
            raise
        finally:
            os.close(tell)
            os.close(hear)
        os.set_blocking(told, False)
        return Process(child, told, orders)

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Give up what was prepared."""
        await self.dismiss()

    async def ready(self) -> None:  # noqa: B027 - not every way has something to prepare
        """Wait until a process can be started without delay; raises OSError where none can be."""

    async def dismiss(self) -> None:  # noqa: B027
        """Give up what was prepared; processes that were started go on."""

    @abstractmethod
    async def _begin(self, orders: int, pipe: int, *, torch: bool) -> Child:
        """Start a process that reads orders there and tells on that pipe."""


class Spawning(Starter):
    """Starts a new interpreter each time: everywhere the same, and a second later."""

    async def _begin(self, orders: int, pipe: int, *, torch: bool) -> Child:
        return await asyncio.create_subprocess_exec(
            *command("child", pipe),
            stdin=orders,
            pass_fds=(pipe,),
            start_new_session=True,  # signals of the terminal are for the supervisor
            env=environment(),
        )


def command(module: str, end: int, *more: str) -> tuple[str, ...]:
    """The command line of a process that is a child of this one and has this descriptor."""
    name = f"driftfold_workers.attempts.{module}"
    return (sys.executable, "-P", "-m", name, str(end), str(os.getpid()), *more)


def environment() -> dict[str, str]:
    """Its environment: it finds the same modules as its supervisor, however that was started."""
    places = os.pathsep.join(str(Path(place).absolute()) for place in sys.path)
    return {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": places}


async def _writer(file: int) -> asyncio.WriteTransport:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(file, "wb", 0))
    return transport
