"""`run`: one simulation from its main coroutine to the end."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from driftfold.kernel.loop import VirtualLoop

T = TypeVar("T")


def run(
    main: Coroutine[Any, Any, T], *, start: float = 0.0, realtime: float | None = None
) -> T:
    """Run `main` in virtual time, and return its result.

    Parameters
    ----------
    main
        The coroutine to run to its end. What is left when it ends is cancelled.
    start
        Virtual time at which it starts, in seconds.
    realtime
        Virtual seconds that pass in a second of wall time; None runs as fast as it can.

    Examples
    --------
    >>> from driftfold.kernel import now, run, sleep
    >>> async def client() -> float:
    ...     await sleep(1e6)
    ...     return now()
    >>> run(client())
    1000000.0
    """
    if not asyncio.iscoroutine(main):
        raise TypeError(f"run() wants a coroutine, got {main!r}")
    if asyncio._get_running_loop() is not None:
        main.close()
        raise RuntimeError("run() cannot be called from a running event loop")
    loop = VirtualLoop(start=start, realtime=realtime)
    try:
        return loop.run_until_complete(main)
    finally:
        try:
            _cancel_rest(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


def _cancel_rest(loop: VirtualLoop) -> None:
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    if rest:
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
