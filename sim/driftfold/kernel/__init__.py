"""Virtual-time asyncio: an event loop whose clock jumps from event to event.

A simulation is ordinary asyncio code. Time passes only where something sleeps, and costs nothing:

>>> import asyncio
>>> from driftfold.kernel import now, run, sleep
>>> async def client(name: str, rest: float) -> None:
...     for _ in range(2):
...         await sleep(rest)
...         print(f"{now():4.1f}  {name}")
>>> async def main() -> None:
...     async with asyncio.TaskGroup() as group:
...         group.create_task(client("hourly", 3600.0))
...         group.create_task(client("faster", 900.0))
>>> run(main())
900.0  faster
1800.0  faster
3600.0  hourly
7200.0  hourly

Six nouns explain it; each has a file of its name:

loop
    `VirtualLoop` is an asyncio event loop, so tasks, queues, locks, timeouts and task groups are
    asyncio's own. It refuses what needs the world outside: sockets, threads, signals (`refuse`).
task
    asyncio's task; cancelling one that sleeps wakes it at the present instant.
sleeper
    A coroutine that only sleeps, without a task (`launch(loop, coroutine)`).
queue
    What happens later, by time. Within an instant the order is that of scheduling: first in, first
    out, always.
trace
    The run's own events, as one digest by which two runs are compared. An event is a sleep with a
    key that is over, or a call of `VirtualLoop.record`; whoever sleeps without a key observes the
    run and leaves no mark.
failures
    Nothing is swallowed. A failed task ends the run as soon as nobody holds it any more, and at
    the latest when the run ends; when all wait for each other the run ends with an error that
    names who waits for what (`errors`).

The same code runs on a real loop: there `sleep` is `asyncio.sleep`, and `now` the loop's clock.
"""

from driftfold.kernel.loop import VirtualLoop
from driftfold.kernel.primitives import now, sleep
from driftfold.kernel.runner import run
from driftfold.kernel.sleeper import Sleeper, launch

__all__ = ["Sleeper", "VirtualLoop", "launch", "now", "run", "sleep"]
