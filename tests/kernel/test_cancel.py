"""Cancelling a lean sleep: at once, and with the meaning asyncio gives it."""

import asyncio

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep


async def napping(delay: float, hops: int = 1) -> str:
    for _ in range(hops):
        await sleep(delay)
    return "rested"


@pytest.mark.parametrize("hops", [1, 5])  # parked by asyncio's task, and by the run loop
def test_a_cancelled_sleep_wakes_at_the_present_instant(hops: int) -> None:
    async def main() -> float:
        task = asyncio.create_task(napping(10.0, hops))
        await sleep(10.0 * hops - 7.0)
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await task
        assert task.cancelled()
        return now()

    assert run(main()) == 10.0 * hops - 7.0


def test_a_task_that_catches_its_cancellation_may_sleep_on() -> None:
    async def stubborn() -> list[float]:
        times = []
        for _ in range(3):
            try:
                await sleep(10.0)
            except asyncio.CancelledError:
                times.append(now())
        await sleep(5.0)
        return [*times, now()]

    async def main() -> list[float]:
        task = asyncio.create_task(stubborn())
        for _ in range(2):
            await sleep(1.0)
            task.cancel()
        return await task

    assert run(main()) == [1.0, 2.0, 17.0]


def test_a_cancelled_sleep_leaves_nothing_behind_in_the_queue() -> None:
    async def main() -> tuple[float | None, int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        tasks = [asyncio.create_task(napping(1e6)) for _ in range(5000)]
        await sleep(0.0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return loop.peek(), len(loop._queue)

    assert run(main()) == (None, 0)


def test_dead_timers_do_not_pile_up() -> None:
    async def main() -> int:
        for _ in range(20_000):
            async with asyncio.timeout(1e6):
                await sleep(1e-3)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        return loop._queue.dead

    assert run(main()) < 10_000


def test_timeout_ends_a_sleep_on_time() -> None:
    async def main() -> float:
        await sleep(1.0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await napping(1.0, hops=100)
        return now()

    assert run(main()) == 3.5


def test_wait_for_ends_a_sleep_on_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(napping(1.0, hops=100), 2.5)
        assert await asyncio.wait_for(napping(1.0), 2.5) == "rested"
        return now()

    assert run(main()) == 3.5


def test_a_timeout_at_the_instant_the_sleep_ends_goes_by_the_order_of_scheduling() -> None:
    async def main() -> str:
        async with asyncio.timeout(2.0):  # its timer was scheduled first
            await sleep(2.0)
        return "not reached"

    with pytest.raises(TimeoutError):
        run(main())


def test_nested_timeouts_raise_where_they_expire() -> None:
    async def main() -> list[float]:
        times = []
        try:
            async with asyncio.timeout(5.0):
                try:
                    async with asyncio.timeout(2.0):
                        await sleep(10.0)
                except TimeoutError:
                    times.append(now())
                await sleep(10.0)
        except TimeoutError:
            times.append(now())
        return times

    assert run(main()) == [2.0, 5.0]


def test_a_task_group_cancels_its_sleepers_when_one_fails() -> None:
    ended: list[tuple[str, float]] = []

    async def sleeper() -> None:
        try:
            await napping(7.0, hops=9)
        finally:
            ended.append(("sleeper", now()))

    async def failing() -> None:
        await sleep(1.0)
        await sleep(1.0)
        raise ValueError("no")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper())
            group.create_task(failing())
            await sleep(100.0)

    with pytest.raises(ExceptionGroup) as caught:
        run(main())
    assert [type(failure) for failure in caught.value.exceptions] == [ValueError]
    assert ended == [("sleeper", 2.0)]


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_task_that_cancels_itself_does_not_sleep(before: int) -> None:
    async def main() -> float:
        async def suicidal() -> None:
            await napping(1.0, hops=before)
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await sleep(100.0)

        task = asyncio.create_task(suicidal())
        with pytest.raises(asyncio.CancelledError):
            await task
        return now()

    assert run(main()) == before


@pytest.mark.parametrize("before", [0, 2])
def test_a_task_that_cancels_itself_cancels_the_future_it_then_awaits(before: int) -> None:
    async def main() -> tuple[float, bool]:
        future = asyncio.get_running_loop().create_future()

        async def suicidal() -> None:
            await napping(1.0, hops=before)
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await future

        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(suicidal())
        return now(), future.cancelled()

    assert run(main()) == (before, True)


@pytest.mark.parametrize("before", [0, 2])
def test_a_task_that_cancels_itself_and_returns_counts_as_cancelled(before: int) -> None:
    async def main() -> bool:
        async def suicidal() -> str:
            await napping(1.0, hops=before)
            task = asyncio.current_task()
            assert task is not None
            task.cancel("me")
            return "done"

        task = asyncio.create_task(suicidal())
        await asyncio.wait([task])
        return task.cancelled()

    assert run(main())


def test_a_cancelled_error_of_the_task_itself_cancels_it() -> None:
    async def main() -> bool:
        async def giving_up() -> None:
            await napping(1.0, hops=2)
            raise asyncio.CancelledError("by itself")

        task = asyncio.create_task(giving_up())
        await asyncio.wait([task])
        return task.cancelled()

    assert run(main())


def test_cancelling_a_task_waits_for_the_child_it_awaits() -> None:
    async def child() -> str:
        try:
            await sleep(10.0)
        except asyncio.CancelledError:
            await sleep(3.0)  # cleans up, and keeps its result
        return "kept"

    async def parent(inner: "asyncio.Task[str]") -> str:
        await sleep(1.0)
        await sleep(1.0)
        return await inner

    async def main() -> tuple[str, float]:
        inner = asyncio.create_task(child())
        outer = asyncio.create_task(parent(inner))
        await sleep(4.0)
        outer.cancel()
        return await outer, now()

    assert run(main()) == ("kept", 7.0)


def test_shield_keeps_a_sleep_going() -> None:
    async def main() -> tuple[float, str]:
        task = asyncio.create_task(napping(3.0, hops=2))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4.0):
                await asyncio.shield(task)
        return now(), await task

    assert run(main()) == (4.0, "rested")


def test_an_endless_sleep_ends_by_cancelling() -> None:
    async def main() -> float:
        task = asyncio.create_task(napping(float("inf")))
        await sleep(2.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return now()

    assert run(main()) == 2.0
