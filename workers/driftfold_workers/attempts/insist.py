"""Insisting: ask the job store again and again until it answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from driftfold_workers.jobs.store import StoreUnreachable

T = TypeVar("T")

SHORTEST, LONGEST = 0.1, 2.0  # seconds between two tries


async def insist(ask: Callable[[], Awaitable[T]]) -> T:
    """Return what `ask` returns once the store can be reached, however long that takes.

    All other errors are raised. What is asked must be safe to repeat: every fenced write is.
    """
    pause = SHORTEST
    while True:
        try:
            return await ask()
        except StoreUnreachable:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST)
