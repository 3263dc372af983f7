"""Deadlock: everybody waits and nothing is scheduled."""

import asyncio
import contextlib

import pytest

from driftfold.kernel import run, sleep
from driftfold.kernel.errors import Deadlock, KernelError


def test_a_deadlock_is_found_at_once_and_names_who_waits_for_what() -> None:
    async def client(queue: "asyncio.Queue[int]") -> int:
        await sleep(1.0)
        return await queue.get()

    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        tasks = [asyncio.create_task(client(queue), name=f"client-{n}") for n in (10, 9)]
        await tasks[0]

    with pytest.raises(Deadlock) as caught:
        run(main())
    deadlock = caught.value
    assert isinstance(deadlock, KernelError)
    assert deadlock.time == 1.0
    names = [waiter.task for waiter in deadlock.waiters]
    assert names == ["client-9", "client-10", "main"]
    assert deadlock.waiters[-1].awaits.endswith("-> client-10")
    for waiter in deadlock.waiters[:-1]:
        assert "client (kernel/test_deadlock.py:" in waiter.awaits
        assert "Queue.get (asyncio/queues.py:" in waiter.awaits
    message = str(deadlock)
    assert message.startswith("deadlock at virtual time 1.0: nothing is scheduled, 3 task(s) wait")
    assert "client-9 awaits " in message


def test_a_deadlock_of_very_many_shows_some() -> None:
    async def main() -> None:
        event = asyncio.Event()
        await asyncio.gather(*(event.wait() for _ in range(100)))

    with pytest.raises(Deadlock) as caught:
        run(main())
    assert len(caught.value.waiters) == 101
    assert str(caught.value).count(" awaits ") == Deadlock.SHOWN
    assert "... and 81 more" in str(caught.value)


def test_endless_sleepers_alone_are_a_deadlock() -> None:
    async def main() -> None:
        async def patient() -> None:
            await sleep(3.0)
            await sleep(float("inf"))

        async with asyncio.TaskGroup() as group:
            group.create_task(patient(), name="patient")
            group.create_task(asyncio.sleep(float("inf")), name="waiting asyncio's way")

    with pytest.raises(Deadlock) as caught:
        run(main())
    assert caught.value.time == 3.0
    awaits = {waiter.task: waiter.awaits for waiter in caught.value.waiters}
    assert "sleep (kernel/primitives.py" in awaits["patient"]
    assert "sleep (asyncio/tasks.py" in awaits["waiting asyncio's way"]


def test_what_waits_in_a_deadlock_still_cleans_up() -> None:
    cleaned = []

    async def main() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await sleep(2.0)
            cleaned.append(True)

    with pytest.raises(Deadlock):
        run(main())
    assert cleaned == [True]


def test_a_task_that_ignores_cancelling_at_the_end_is_a_deadlock_too() -> None:
    async def stubborn() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def main() -> asyncio.Task[None]:
        task = asyncio.create_task(stubborn(), name="stubborn")
        await sleep(1.0)
        return task

    with pytest.raises(Deadlock, match="stubborn"):
        run(main())
