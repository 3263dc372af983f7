"""Events a second of `driftfold.kernel` against SimPy, and the memory of a parked client.

Processes sleep random times; the digest is on. Each arm creates its processes and runs them to the
end; arms take turns within one run, time is CPU time, and medians over the turns are compared.
Prints one JSON object.

    python bench/kernel.py [--quick]
"""

import argparse
import asyncio
import gc
import json
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

import simpy

from driftfold.kernel import VirtualLoop, run, sleep

# processes: (sleeps of each, turns)
SIZES = {1_000: (200, 11), 100_000: (10, 3), 1_000_000: (3, 3)}
QUICK = {1_000: (50, 3), 10_000: (10, 3)}
ASYNCIO_UP_TO = 10_000  # processes for which asyncio.sleep is measured too
PARKED = 100_000

_draw = random.Random(1)
DELAYS = [_draw.expovariate(1.0) for _ in range(100_003)]

Arm = Callable[[int, int], None]


def simpy_timeout(processes: int, sleeps: int) -> None:
    environment = simpy.Environment()

    def process(number: int) -> Generator[simpy.Event, Any, None]:
        for turn in range(sleeps):
            yield environment.timeout(DELAYS[(number * 31 + turn) % 100_003])

    for number in range(processes):
        environment.process(process(number))
    environment.run()


def lean_sleep(processes: int, sleeps: int) -> None:
    async def process(number: int) -> None:
        for turn in range(sleeps):
            await sleep(DELAYS[(number * 31 + turn) % 100_003], number)

    async def main() -> None:
        tasks = [asyncio.create_task(process(number)) for number in range(processes)]
        for task in tasks:
            await task
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        assert loop.events == processes * sleeps
        loop.digest()

    run(main())


def asyncio_sleep(processes: int, sleeps: int) -> None:
    async def process(number: int) -> None:
        for turn in range(sleeps):
            await asyncio.sleep(DELAYS[(number * 31 + turn) % 100_003])

    async def main() -> None:
        for task in [asyncio.create_task(process(number)) for number in range(processes)]:
            await task

    run(main())


def rates(processes: int, sleeps: int, turns: int) -> dict[str, Any]:
    """Return the median events a second of each arm, and its ratio to SimPy's."""
    arms: list[Arm] = [simpy_timeout, lean_sleep]
    if processes <= ASYNCIO_UP_TO:
        arms.append(asyncio_sleep)
    seconds: dict[str, list[float]] = {arm.__name__: [] for arm in arms}
    for _ in range(turns):
        for arm in arms:
            gc.collect()
            start = time.process_time()
            arm(processes, sleeps)
            seconds[arm.__name__].append(time.process_time() - start)
    median = {name: statistics.median(times) for name, times in seconds.items()}
    return {
        "processes": processes,
        "sleeps_each": sleeps,
        "turns": turns,
        "events_per_second": {n: round(processes * sleeps / t) for n, t in median.items()},
        "ratio_to_simpy": {
            name: round(median["simpy_timeout"] / seconds, 3)
            for name, seconds in median.items()
            if name != "simpy_timeout"
        },
    }


def parked_bytes(clients: int) -> float:
    """Return the resident memory of a parked client whose coroutine is three deep."""

    async def client(number: int) -> None:
        await session(number)

    async def session(number: int) -> None:
        await transfer(1.0 + number)

    async def transfer(delay: float) -> None:
        await sleep(delay, 1)

    async def main() -> float:
        before = resident()
        tasks = [asyncio.create_task(client(number)) for number in range(clients)]
        await sleep(0.5)
        used = resident() - before
        for task in tasks:
            task.cancel()
        return used / clients

    return run(main())


def resident() -> int:
    """Return the resident memory of this process, in bytes."""
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
            return int(statm.read().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, rough figures")
    parser.add_argument("--parked", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.parked:
        print(parked_bytes(PARKED))
        return
    # In a process of its own: memory that earlier arms left behind would be taken up again unseen.
    command = [sys.executable, __file__, "--parked"]
    parked = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    sizes = QUICK if options.quick else SIZES
    print(
        json.dumps(
            {
                "python": platform.python_version(),
                "simpy": simpy.__version__,
                "rates": [rates(n, sleeps, turns) for n, (sleeps, turns) in sizes.items()],
                "parked_client_bytes": round(parked),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
