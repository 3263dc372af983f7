"""Stopping tasks: cancel them until they are over."""

import asyncio
from typing import Any

AGAIN = 1.0  # seconds that a task has to clean up before it is canceled once more


async def stopped(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel tasks and return once all are over, whatever they end with.

    One cancellation is not enough: `asyncio.wait_for` of Python 3.11 drops one that comes in the
    moment in which what it waits for is done, and redis-py sends each command through it. Tasks are
    seen to their end even when this is canceled meanwhile; then it raises that.

    >>> async def show():
    ...     task = asyncio.create_task(asyncio.sleep(1000))
    ...     await stopped(task)
    ...     return task.cancelled()
    >>> asyncio.run(show())
    True
    """
    interrupted: asyncio.CancelledError | None = None
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        try:
            await asyncio.wait(running, timeout=AGAIN)
        except asyncio.CancelledError as error:
            interrupted = error
    for task in tasks:
        if not task.cancelled():
            task.exception()  # it was seen, or is of no use: let nobody report it
    if interrupted is not None:
        raise interrupted
