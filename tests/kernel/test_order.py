"""Order: time never goes back, and an instant is first in, first out."""

import asyncio

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep


def test_sleepers_wake_in_the_order_of_their_times() -> None:
    woken = []

    async def sleeper(delay: float) -> None:
        await sleep(delay)
        woken.append((now(), delay))

    async def main() -> None:
        await asyncio.gather(*map(sleeper, (3.0, 1.0, 2.0, 0.5)))

    run(main())
    assert woken == [(0.5, 0.5), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]


def test_sleeps_and_timers_of_one_instant_fire_in_the_order_of_scheduling() -> None:
    fired: list[str] = []

    async def sleeper(name: str, delay: float) -> None:
        await sleep(delay)
        fired.append(name)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        first = asyncio.create_task(sleeper("sleep 1", 2.0))
        await sleep(0.0)
        loop.call_at(2.0, fired.append, "timer 2")
        second = asyncio.create_task(sleeper("sleep 3", 2.0))
        await sleep(0.0)
        loop.call_later(2.0, fired.append, "timer 4")
        await asyncio.gather(first, second)

    run(main())
    assert fired == ["sleep 1", "timer 2", "sleep 3", "timer 4"]


def test_what_an_event_schedules_for_its_instant_comes_after_all_events_of_the_instant() -> None:
    fired: list[str] = []

    async def sleeper(name: str) -> None:
        await sleep(1.0)
        fired.append(name)
        asyncio.get_running_loop().call_soon(fired.append, f"after {name}")

    async def main() -> None:
        await asyncio.gather(sleeper("a"), sleeper("b"))

    run(main())
    assert fired == ["a", "b", "after a", "after b"]


@pytest.mark.parametrize("key", [None, 5])
def test_a_sleep_of_zero_lets_everybody_else_at_the_instant_go_first(key: int | None) -> None:
    steps: list[str] = []

    async def stepper(name: str) -> None:
        await sleep(1.0)
        for step in range(3):
            steps.append(f"{name}{step}")
            await sleep(0.0, key)

    async def main() -> None:
        await asyncio.gather(stepper("a"), stepper("b"))
        assert now() == 1.0

    run(main())
    assert steps == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_a_delay_lost_in_rounding_is_a_sleep_of_zero() -> None:
    order: list[str] = []

    async def sleeper(name: str, delay: float) -> None:
        await sleep(delay)
        order.append(name)

    async def main() -> None:
        await asyncio.gather(sleeper("tiny", 1e-30), sleeper("zero", 0.0), sleeper("tiny", 1e-30))
        assert now() == 1e9

    run(main(), start=1e9)
    assert order == ["tiny", "zero", "tiny"]


def test_a_timer_in_the_past_fires_at_the_present() -> None:
    times: list[float] = []

    async def main() -> None:
        await sleep(5.0)
        asyncio.get_running_loop().call_at(1.0, lambda: times.append(now()))
        asyncio.get_running_loop().call_later(-3.0, lambda: times.append(now()))
        await sleep(1.0)

    run(main())
    assert times == [5.0, 5.0]


def test_peek_tells_the_next_time_without_moving_it() -> None:
    async def main() -> list[float | None]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        peeks = [loop.peek()]
        timer = loop.call_at(3.0, lambda: None)
        far = loop.call_at(7.0, lambda: None)
        peeks.append(loop.peek())
        timer.cancel()
        peeks.append(loop.peek())
        loop.call_soon(lambda: None)
        peeks.append(loop.peek())
        far.cancel()
        return peeks

    assert run(main()) == [None, 3.0, 7.0, 0.0]


def test_many_sleepers_at_one_instant_keep_their_order_in_buckets() -> None:
    woken: list[int] = []

    async def sleeper(number: int) -> None:
        for _ in range(4):
            await sleep(1.0 + number % 3)
        woken.append(number)

    async def main() -> None:
        await asyncio.gather(*map(sleeper, range(3000)))

    run(main())
    assert woken == [n for rest in range(3) for n in range(3000) if n % 3 == rest]


@pytest.mark.parametrize("delay", [-1.0, -1e-300, float("nan"), float("-inf")])
def test_a_delay_that_is_no_delay_is_an_error(delay: float) -> None:
    async def main() -> None:
        await sleep(delay)

    with pytest.raises(ValueError, match="must be a number of seconds >= 0"):
        run(main())


def test_a_timer_at_no_time_is_an_error() -> None:
    loop = VirtualLoop()
    with pytest.raises(ValueError, match="must be a number of seconds"):
        loop.call_at(float("nan"), print)
    loop.close()


class Seconds(float):
    """A number of another class, as numpy's are."""


def test_whatever_the_delays_are_time_stays_a_float() -> None:
    async def main() -> list[type]:
        kinds = []
        loop = asyncio.get_running_loop()
        for delay in (3, Seconds(1.5)):
            await sleep(delay)
            kinds.append(type(now()))
            done = asyncio.Event()
            loop.call_later(delay, done.set)
            await done.wait()
            kinds.append(type(now()))
        assert now() == 9.0
        return kinds

    assert run(main()) == [float] * 4
