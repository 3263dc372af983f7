"""What a parked client costs."""

import asyncio
import gc
import tracemalloc

from driftfold.kernel import run, sleep

CLIENTS = 5000
LIMIT = 2000  # bytes a client whose coroutine is three deep


async def client(number: int) -> None:
    await session(number)


async def session(number: int) -> None:
    await transfer(float(number))


async def transfer(delay: float) -> None:
    await sleep(1.0 + delay, 1)


def test_a_parked_client_three_deep_takes_at_most_two_kilobytes() -> None:
    async def main() -> float:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        tasks = [asyncio.create_task(client(number)) for number in range(CLIENTS)]
        await sleep(0.5)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return (after - before) / CLIENTS

    tracemalloc.start()
    try:
        assert run(main()) <= LIMIT
    finally:
        tracemalloc.stop()
