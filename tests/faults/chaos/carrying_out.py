"""Carrying out what takes long, so that SIGTERM ends it as Ctrl-C does: nothing is left behind."""

import asyncio
import signal
import sys
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own; SIGTERM cancels it."""

    async def run() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    return asyncio.run(run())


def tell(text: str) -> None:
    """Print a line with the time on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
