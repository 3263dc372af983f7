"""Coroutines that only sleep, stepped without a task."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from driftfold.kernel import Sleeper, VirtualLoop, launch, now, run, sleep


def here() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def sleeper(coro: Coroutine[Any, Any, None]) -> Sleeper:
    made = launch(here(), coro)
    assert made is not None
    return made


def events(spawn: Any, delays: list[list[float]]) -> tuple[str, int]:
    """Digest of coroutines that sleep these delays, all started by `spawn` at once."""

    async def nap(number: int, naps: list[float]) -> None:
        for stage, delay in enumerate(naps):
            await sleep(delay, 8 * number + stage)

    async def main() -> tuple[str, int]:
        kept = [spawn(nap(i, naps)) for i, naps in enumerate(delays)]
        await sleep(100.0)
        assert len(kept) == len(delays)
        return here().digest(), here().events

    return run(main())


def test_its_events_are_those_of_a_task_in_the_same_order() -> None:
    delays = [[1.0, 2.0, 0.0], [1.0, 2.0], [0.5, 0.5, 0.0, 2.0], [3.0], [0.0, 1.0, 2.0]]
    digest = events(sleeper, delays)
    assert digest[1] == sum(map(len, delays))
    # All but the last begin with the same order; a first sleep of zero waits one turn more in a
    # task, which starts later, but fires at the same instant and after the same events.
    assert digest == events(lambda coro: asyncio.ensure_future(coro), delays)


def test_many_use_the_two_level_queue_alike() -> None:
    delays = [[0.25 + (37 * i % 101) / 7, (11 * i % 13) / 3] for i in range(2000)]
    assert events(sleeper, delays) == events(lambda coro: asyncio.ensure_future(coro), delays)


def test_the_first_step_is_taken_at_once() -> None:
    steps: list[str] = []

    async def nap() -> None:
        steps.append("started")
        await sleep(1.0)
        steps.append("woke")

    async def main() -> None:
        napping = sleeper(nap())
        steps.append("made")
        await sleep(2.0)
        assert not napping.alive

    run(main())
    assert steps == ["started", "made", "woke"]


@pytest.mark.parametrize("delay", [0.0, 1.0, float("inf")])
def test_cancel_reaches_it_at_the_present_instant(delay: float) -> None:
    heard: list[float] = []

    async def nap() -> None:
        try:
            await sleep(delay, 1)
        except asyncio.CancelledError:
            heard.append(now())
            raise

    async def main() -> tuple[bool, bool, int]:
        napping = sleeper(nap())
        first, second = napping.cancel(), napping.cancel()
        await sleep(0.0)
        assert not napping.alive
        assert len(here()._queue) == 0
        await sleep(5.0)
        return first, second, here().events

    assert run(main()) == (True, False, 0)
    assert heard == [0.0]


def test_one_that_sleeps_on_when_cancelled_is_refused() -> None:
    async def stubborn() -> None:
        try:
            await sleep(1.0)
        except asyncio.CancelledError:
            await sleep(1.0)

    async def main() -> None:
        napping = sleeper(stubborn())
        with pytest.raises(RuntimeError, match="slept on when it was cancelled"):
            napping.cancel()
        assert not napping.alive
        await sleep(3.0)

    run(main())


def test_what_it_raises_ends_the_run() -> None:
    async def fails() -> None:
        await sleep(1.0)
        raise ValueError("no good")

    async def main() -> None:
        sleeper(fails())
        await sleep(10.0)
        raise AssertionError("the run went on")

    with pytest.raises(ValueError, match="no good") as caught:
        run(main())
    assert "fails" in caught.value.__notes__[0]
    assert "1.0" in caught.value.__notes__[0]


def test_what_its_first_step_raises_comes_out_where_it_is_made() -> None:
    async def fails() -> None:
        raise ValueError("no good")

    async def main() -> None:
        with pytest.raises(ValueError, match="no good"):
            sleeper(fails())
        await sleep(1.0)

    run(main())


@pytest.mark.parametrize("late", [False, True])
def test_it_may_await_nothing_else(late: bool) -> None:
    async def waits() -> None:
        if late:
            await sleep(1.0)
        await asyncio.sleep(1.0)

    async def main() -> None:
        sleeper(waits())
        await sleep(10.0)
        raise AssertionError("the run went on")

    with pytest.raises(RuntimeError, match=r"awaited <Future.*nothing but kernel.sleep"):
        run(main())


def test_an_interrupt_passes_through() -> None:
    async def interrupted() -> None:
        await sleep(1.0)
        raise KeyboardInterrupt

    async def main() -> None:
        sleeper(interrupted())
        await sleep(10.0)

    with pytest.raises(KeyboardInterrupt):
        run(main())
