"""Every asyncio primitive, unchanged, in virtual time."""

import asyncio
import contextvars
import sys
from collections.abc import AsyncIterator, Generator
from typing import Any

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep
from driftfold.kernel.task import VirtualTask


def test_asyncio_sleep() -> None:
    async def main() -> tuple[str, float]:
        return await asyncio.sleep(12.5, "result"), now()

    assert run(main()) == ("result", 12.5)


def test_queue() -> None:
    async def main() -> list[tuple[float, int]]:
        queue: asyncio.Queue[int] = asyncio.Queue(maxsize=1)

        async def producer() -> None:
            for item in range(3):
                await sleep(1.0)
                await queue.put(item)

        task = asyncio.create_task(producer())
        got = []
        for _ in range(3):
            got.append((now(), await queue.get()))
            await sleep(2.0)
        await task
        return got

    assert run(main()) == [(0.0, 0), (3.0, 1), (5.0, 2)]


def test_event_and_condition() -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        event, condition = asyncio.Event(), asyncio.Condition()

        async def by_event() -> None:
            await sleep(0.5)
            await event.wait()
            seen.append(f"event {now()}")

        async def by_condition() -> None:
            async with condition:
                await condition.wait()
                seen.append(f"condition {now()}")

        async with asyncio.TaskGroup() as group:
            group.create_task(by_event())
            group.create_task(by_condition())
            await sleep(2.0)
            event.set()
            await sleep(1.0)
            async with condition:
                condition.notify_all()
        return seen

    assert run(main()) == ["event 2.0", "condition 3.0"]


@pytest.mark.parametrize(("room", "ends"), [(1, [1.0, 2.0, 3.0, 4.0]), (2, [1.0, 1.0, 2.0, 2.0])])
def test_lock_and_semaphore_are_fair(room: int, ends: list[float]) -> None:
    async def main() -> list[tuple[int, float]]:
        gate = asyncio.Lock() if room == 1 else asyncio.Semaphore(room)
        done: list[tuple[int, float]] = []

        async def worker(number: int) -> None:
            async with gate:
                await sleep(1.0)
                done.append((number, now()))

        await asyncio.gather(*map(worker, range(4)))
        return done

    assert run(main()) == list(enumerate(ends))


def test_barrier() -> None:
    async def main() -> list[float]:
        barrier = asyncio.Barrier(3)

        async def party(delay: float) -> float:
            await sleep(delay)
            await barrier.wait()
            return now()

        return [*await asyncio.gather(party(1.0), party(5.0), party(3.0))]

    assert run(main()) == [5.0, 5.0, 5.0]


async def after(delay: float) -> float:
    await sleep(delay / 2)
    await sleep(delay / 2)
    return delay


def test_gather_wait_and_as_completed() -> None:
    async def main() -> None:
        assert [*await asyncio.gather(after(3.0), after(1.0))] == [3.0, 1.0]
        assert now() == 3.0

        tasks = [asyncio.create_task(after(delay)) for delay in (4.0, 2.0)]
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert (now(), done, pending) == (5.0, {tasks[1]}, {tasks[0]})
        done, pending = await asyncio.wait(tasks, timeout=1.0)
        assert (now(), done, pending) == (6.0, {tasks[1]}, {tasks[0]})
        await asyncio.wait(tasks)
        assert now() == 7.0

        order = [await first for first in asyncio.as_completed([after(9.0), after(8.0)])]
        assert order == [8.0, 9.0]

    run(main())


def test_a_task_goes_from_sleeps_to_futures_and_back() -> None:
    async def main() -> tuple[list[str], float]:
        loop = asyncio.get_running_loop()
        seen = []
        for round_ in range(3):
            await sleep(1.0)
            await sleep(1.0)
            future: asyncio.Future[str] = loop.create_future()
            loop.call_later(1.0, future.set_result, f"round {round_}")
            seen.append(await future)
            await asyncio.sleep(0)
        return seen, now()

    assert run(main()) == (["round 0", "round 1", "round 2"], 9.0)


def test_a_failed_future_raises_in_a_task_that_slept() -> None:
    async def main() -> float:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await sleep(1.0)
        await sleep(1.0)
        asyncio.get_running_loop().call_later(1.0, future.set_exception, KeyError("x"))
        with pytest.raises(KeyError):
            await future
        return now()

    assert run(main()) == 3.0


class HandMade:
    """An awaitable that resembles a future without being one of asyncio's."""

    _asyncio_future_blocking = False

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.inner = loop.create_future()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __await__(self) -> Generator[Any, None, Any]:
        if not self.inner.done():
            self._asyncio_future_blocking = True
            yield self
        return self.inner.result()


@pytest.mark.parametrize("naps", [0, 2])
def test_futures_of_other_classes(naps: int) -> None:
    async def main() -> tuple[str, float]:
        loop = asyncio.get_running_loop()
        kept, dropped = HandMade(loop), HandMade(loop)

        async def waiting(for_what: HandMade) -> Any:
            for _ in range(naps):
                await sleep(1.0)
            return await for_what

        loop.call_later(5.0, kept.inner.set_result, "by hand")
        doomed = asyncio.create_task(waiting(dropped))
        loop.call_later(4.0, doomed.cancel)
        with pytest.raises(asyncio.CancelledError):
            await doomed
        assert (now(), dropped.inner.cancelled()) == (4.0, True)
        return await asyncio.create_task(waiting(kept)), now()

    assert run(main()) == ("by hand", max(5.0, 4.0 + naps))


@pytest.mark.parametrize("naps", [0, 2])
def test_a_bad_yield_fails_the_task(naps: int) -> None:
    class Bad:
        def __await__(self) -> Generator[Any, None, None]:
            yield "nonsense"

    async def main() -> None:
        for _ in range(naps):
            await sleep(1.0)
        await Bad()

    with pytest.raises(RuntimeError, match="bad yield: 'nonsense'"):
        run(main())


def test_current_task_and_context_are_the_sleeper_s_own() -> None:
    number = contextvars.ContextVar("number", default=-1)

    async def main() -> None:
        async def client(mine: int) -> None:
            number.set(mine)
            task = asyncio.current_task()
            assert task is not None
            for _ in range(3):
                await sleep(1.0)
                assert number.get() == mine
                assert asyncio.current_task() is task
                async with asyncio.timeout(5.0):
                    await sleep(0.5)

        def outside() -> None:
            assert asyncio.current_task() is None

        asyncio.get_running_loop().call_later(1.0, outside)
        await asyncio.gather(*map(client, range(5)))
        assert number.get() == -1

    run(main())


def test_async_generators_and_asyncio_runner() -> None:
    async def ticks() -> AsyncIterator[float]:
        while True:
            await sleep(1.0)
            yield now()

    async def main() -> list[float]:
        seen = []
        async for time in ticks():
            seen.append(time)
            if len(seen) == 3:
                break
        return seen

    with asyncio.Runner(loop_factory=VirtualLoop, debug=True) as runner:
        assert runner.run(main()) == [1.0, 2.0, 3.0]
        assert runner.run(main()) == [4.0, 5.0, 6.0]


def test_a_coroutine_driven_by_hand_does_not_mislead_the_loop() -> None:
    async def main() -> float:
        coroutine = sleep(50.0)
        coroutine.send(None)
        asyncio.get_running_loop().call_soon(lambda: None)
        await sleep(1.0)
        coroutine.close()
        return now()

    assert run(main()) == 1.0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with Python 3.12")
def test_eager_tasks_may_sleep() -> None:
    async def main() -> tuple[float, float]:
        async def napping() -> float:
            await sleep(2.0)
            await sleep(2.0)
            return now()

        loop = asyncio.get_running_loop()
        loop.set_task_factory(asyncio.create_eager_task_factory(VirtualTask))  # type: ignore[attr-defined,unused-ignore]
        await sleep(1.0)
        await sleep(1.0)
        first, second = asyncio.create_task(napping()), asyncio.create_task(napping())
        await sleep(3.0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        return now(), await first

    assert run(main()) == (5.0, 6.0)


@pytest.mark.parametrize("key", [None, 3])
def test_a_task_of_another_class_may_sleep(key: int | None) -> None:
    async def main() -> float:
        async def napping() -> None:
            await sleep(2.0, key)
            await sleep(1.0, key)

        loop = asyncio.get_running_loop()
        await asyncio.Task(napping(), loop=loop)
        loop.set_task_factory(lambda loop, coro, **options: asyncio.Task(coro, loop=loop))
        await asyncio.create_task(napping())
        assert isinstance(loop, VirtualLoop)
        assert loop.events == (0 if key is None else 4)
        return now()

    assert run(main()) == 6.0
