"""Failures that nobody handles end the run; nothing is swallowed."""

import asyncio
import gc

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep
from driftfold.kernel.errors import LostTask


async def failing(delay: float, hops: int = 1) -> None:
    for _ in range(hops):
        await sleep(delay)
    raise KeyError("lost key")


@pytest.mark.parametrize("hops", [0, 1, 3])
def test_a_failed_task_that_nobody_holds_ends_the_run_at_that_instant(hops: int) -> None:
    times: list[float] = []

    async def watching() -> None:
        while True:
            times.append(now())
            await sleep(1.0)

    async def main() -> None:
        tasks = {asyncio.create_task(failing(1.0, hops), name="the failing one")}
        watcher = asyncio.create_task(watching())
        await sleep(0.0)
        tasks.clear()
        await watcher

    with pytest.raises(KeyError, match="lost key") as caught:
        run(main())
    assert times[-1] == hops
    assert any("the failing one" in note for note in caught.value.__notes__)
    assert any(f"virtual time {float(hops)}" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("cancelled", [False, True])
def test_the_run_loop_itself_holds_no_failed_task(cancelled: bool) -> None:
    reached: list[float] = []

    async def failing_after_its_sleep() -> None:
        await sleep(1.0)
        await sleep(1.0)
        if cancelled:
            asyncio.get_running_loop().call_soon(task_of_it[0].cancel)
            del task_of_it[:]
            try:
                await sleep(5.0)
            except asyncio.CancelledError:
                raise KeyError("lost key") from None
        await asyncio.sleep(0)
        raise KeyError("lost key")

    async def main() -> None:
        task_of_it.append(asyncio.create_task(failing_after_its_sleep()))
        await sleep(0.0)
        if not cancelled:
            del task_of_it[:]
        await sleep(3.0)
        reached.append(now())

    task_of_it: list[asyncio.Task[None]] = []
    with pytest.raises(KeyError, match="lost key"):
        run(main())
    assert reached == []


@pytest.mark.parametrize("hops", [0, 3])
def test_a_failed_task_that_only_a_cycle_holds_ends_the_run_at_that_instant(hops: int) -> None:
    times: list[float] = []

    async def cyclic() -> None:
        me = asyncio.current_task()
        assert me is not None
        await failing(1.0, hops)

    async def main() -> None:
        tasks = {asyncio.create_task(cyclic(), name="cyclic")}
        await sleep(0.0)
        tasks.clear()
        while True:
            times.append(now())
            await sleep(1.0)

    gc.collect()
    with pytest.raises(KeyError):
        run(main())
    assert max(times, default=0.0) <= hops


def test_a_failed_task_may_be_awaited_later() -> None:
    async def main() -> float:
        task = asyncio.create_task(failing(1.0))
        await sleep(10.0)
        with pytest.raises(KeyError):
            await task
        return now()

    assert run(main()) == 10.0


def test_a_failed_task_that_is_held_but_never_awaited_raises_at_the_end() -> None:
    held: list[asyncio.Task[None]] = []
    reached = []

    async def main() -> str:
        held.append(asyncio.create_task(failing(1.0, 2), name="held"))
        await sleep(10.0)
        reached.append(now())
        return "fine"

    with pytest.raises(KeyError) as caught:
        run(main())
    assert reached == [10.0]
    assert any("Nobody awaited held" in note for note in caught.value.__notes__)


def test_the_failure_of_main_comes_first_and_the_others_are_noted() -> None:
    held: list[asyncio.Task[None]] = []

    async def main() -> None:
        held.append(asyncio.create_task(failing(1.0)))
        await sleep(2.0)
        raise ValueError("main's own")

    with pytest.raises(ValueError, match="main's own") as caught:
        run(main())
    assert any("KeyError('lost key')" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("when", [0.0, 2.0])
def test_a_failing_callback_ends_the_run(when: float) -> None:
    def broken() -> None:
        raise ZeroDivisionError("in a callback")

    async def main() -> None:
        asyncio.get_running_loop().call_later(when, broken)
        await sleep(100.0)

    with pytest.raises(ZeroDivisionError) as caught:
        run(main())
    assert any(f"virtual time {when}" in note for note in caught.value.__notes__)


def test_an_exception_handler_of_the_user_s_own_is_asked_instead() -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: seen.append(context["message"]))
        loop.call_soon(lambda: 1 / 0)
        await sleep(1.0)
        return seen

    (message,) = run(main())
    assert message.startswith("Exception in callback")


def test_failures_while_the_run_is_wound_up_are_raised() -> None:
    async def bad_at_cleaning() -> None:
        try:
            await sleep(100.0)
        finally:
            raise OSError("while cleaning up")

    async def main() -> None:
        held.extend(asyncio.create_task(bad_at_cleaning()) for _ in range(2))
        await sleep(1.0)

    held: list[asyncio.Task[None]] = []
    with pytest.raises(OSError, match="while cleaning up") as caught:
        run(main())
    assert sum("also, while the run was wound up" in note for note in caught.value.__notes__) == 1


def test_a_task_lost_while_it_waits_ends_the_run() -> None:
    async def waiting() -> None:
        await asyncio.get_running_loop().create_future()  # only the task itself holds it

    async def main() -> None:
        asyncio.create_task(waiting(), name="lost")  # noqa: RUF006
        await sleep(1.0)
        gc.collect()
        await sleep(100.0)

    with pytest.raises(LostTask, match="lost"):
        run(main())


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("hops", [0, 2])
def test_interrupts_go_straight_through(interrupt: type[BaseException], hops: int) -> None:
    cleaned = []

    async def main() -> None:
        async def other() -> None:
            try:
                await sleep(100.0)
            finally:
                cleaned.append(now())

        task = asyncio.create_task(other())
        for _ in range(hops):
            await sleep(1.0)
        if hops == 0:
            await asyncio.sleep(0)
        del task
        raise interrupt

    with pytest.raises(interrupt):
        run(main())
    assert cleaned == [hops]


def test_the_traceback_of_a_failure_is_the_user_s_own() -> None:
    async def main() -> None:
        await failing(1.0, 3)

    with pytest.raises(KeyError) as caught:
        run(main())
    names = [entry.name for entry in caught.traceback]
    assert names[-2:] == ["main", "failing"]
    assert "run_slice" not in names[names.index("run_until_complete") + 1 :]


def test_thousands_of_failures_that_are_claimed_later_are_no_trouble() -> None:
    async def main() -> int:
        tasks = [asyncio.create_task(failing(float(n))) for n in range(3000)]
        await sleep(4000.0)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return sum(isinstance(result, KeyError) for result in results)

    assert run(main()) == 3000


def test_a_failure_between_two_runs_of_one_loop_is_raised_in_the_next() -> None:
    loop = VirtualLoop()
    held = [loop.create_task(failing(1.0))]
    loop.run_until_complete(asyncio.sleep(5.0))
    held.clear()
    with pytest.raises(KeyError):
        loop.run_until_complete(asyncio.sleep(5.0))
    assert loop.time() == 5.0
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0.0))
    loop.close()
