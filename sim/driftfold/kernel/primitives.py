"""`sleep` and `now`: what a coroutine asks of virtual time."""

import asyncio
import types
from collections.abc import Generator
from operator import index
from typing import Any

from driftfold.kernel.running import here

_FOREVER = float("inf")
_KEYS = 2**63


@types.coroutine
def sleep(delay: float, key: int | None = None) -> Generator[Any, Any, None]:
    """Sleep `delay` seconds of the running loop's time; cheaper than `asyncio.sleep`.

    Parameters
    ----------
    delay
        Seconds, at least 0. Zero lets everybody else at this instant go first; infinity sleeps
        until cancelled.
    key
        Makes waking up one of the run's own events: the time and this number (0 to 2**63 - 1)
        enter the run's digest. Without a key the digest knows nothing of this sleep.

    Returns
    -------
    An awaitable, not a coroutine object: for a task of its own, await it in an `async def`.

    Raises
    ------
    ValueError
        If the delay is negative or not a number, or the key out of range.

    Examples
    --------
    >>> from driftfold.kernel import now, run, sleep
    >>> async def main() -> float:
    ...     await sleep(3600.0)
    ...     return now()
    >>> run(main())
    3600.0
    """
    if type(delay) is not float:
        delay = float(delay)
    if not delay >= 0.0:
        raise ValueError(f"sleep() got a delay of {delay!r}; it must be a number of seconds >= 0")
    if key is not None:
        if type(key) is not int:
            key = index(key)
        if not 0 <= key < _KEYS:
            raise ValueError(f"sleep() got the key {key!r}; an event's key is in 0 ... 2**63 - 1")
    loop = here.loop
    if loop is not None:
        # Leave the delay on the loop and yield bare: whoever steps the task files it from there.
        loop._park = delay
        loop._park_key = key
        yield
    else:
        yield from asyncio.sleep(delay).__await__()


def now() -> float:
    """Return the running loop's time in seconds: virtual time inside `run`.

    Examples
    --------
    >>> from driftfold.kernel import now, run
    >>> async def main() -> float:
    ...     return now()
    >>> run(main(), start=5.0)
    5.0
    """
    return asyncio.get_running_loop().time()
