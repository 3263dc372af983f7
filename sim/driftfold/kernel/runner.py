"""`run`: one simulation, from its main coroutine to the end."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from driftfold.kernel.errors import Deadlock
from driftfold.kernel.loop import VirtualLoop
from driftfold.kernel.waiting import natural

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T], *, start: float = 0.0, realtime: float | None = None) -> T:
    """Run `main` in virtual time and return its result.

    When `main` ends, what is left is cancelled and given the time to clean up, asynchronous
    generators are closed, and failures of tasks that nobody awaited are raised.

    Parameters
    ----------
    main
        The coroutine to run.
    start
        Virtual time at which it starts, in seconds.
    realtime
        Virtual seconds that pass in a second of wall time; None runs as fast as it can.

    Raises
    ------
    Deadlock
        If tasks wait and nothing is scheduled that could wake them.
    Exception
        Whatever `main` raises, or a task that nobody awaited; a note names the task.

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
        raise TypeError(f"run() wants a coroutine, such as main(); got {main!r}")
    if asyncio._get_running_loop() is not None:
        main.close()
        raise RuntimeError(
            "run() cannot be called from a running event loop; await the coroutine there, or give "
            "the run a thread of its own: await asyncio.to_thread(run, main())"
        )
    loop = VirtualLoop(start=start, realtime=realtime)
    failures: list[BaseException] = []
    try:
        task = loop.create_task(main, name="main")
        result = loop.run_until_complete(task)
    except BaseException as failure:
        failures.append(failure)
        if task.done() and not task.cancelled():
            task.exception()  # it is raised here: nobody else needs to take it up
    failures += _wind_up(loop)
    if failures:
        first, *others = failures
        for other in others:
            first.add_note(f"also, while the run was wound up: {other!r}")
        try:
            raise first
        finally:
            del first, others, failures  # they refer to this very frame
    return result


def _wind_up(loop: VirtualLoop) -> list[BaseException]:
    """Cancel what is left and close the loop; return what failed on the way."""
    failures: list[BaseException] = []
    try:
        # A failure interrupts the winding up; then the rest still gets its turn.
        for _ in range(1 + len(asyncio.all_tasks(loop))):
            try:
                loop.run_until_complete(_cancel_rest(loop))
                loop.run_until_complete(loop.shutdown_asyncgens())
                break
            except (Deadlock, KeyboardInterrupt, SystemExit) as failure:
                failures.append(failure)
                break
            except BaseException as failure:
                failures.append(failure)
        failures += loop._failures.take(loop.time())
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
    finally:
        loop.close()
    return failures


async def _cancel_rest(loop: VirtualLoop) -> None:
    rest = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in sorted(rest, key=lambda task: natural(task.get_name())):
        task.cancel()
    if rest:
        await asyncio.wait(rest)
