"""Pacing against the wall clock, with a clock of the test's own."""

import asyncio
import time

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep
from driftfold.kernel.realtime import Pacer


class Wall:
    """A wall clock that moves when somebody sleeps, and that work may push forward."""

    def __init__(self) -> None:
        self.time = 1000.0

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds > 0.0
        self.time += seconds


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    wall = Wall()
    monkeypatch.setattr(time, "monotonic", wall.monotonic)
    monkeypatch.setattr(time, "sleep", wall.sleep)
    return wall


@pytest.mark.parametrize("rate", [0.5, 1.0, 60.0])
def test_virtual_time_is_held_back_to_the_rate(wall: Wall, rate: float) -> None:
    async def main() -> list[tuple[float, float]]:
        seen = [(now(), wall.time)]
        for delay in (3.0, 0.0, 12.0):
            await sleep(delay)
            seen.append((now(), wall.time))
        await asyncio.sleep(15.0)
        return [*seen, (now(), wall.time)]

    seen = run(main(), realtime=rate, start=7.0)
    assert [virtual for virtual, _ in seen] == [7.0, 10.0, 10.0, 22.0, 37.0]
    assert [real for _, real in seen] == pytest.approx(
        [1000.0 + (virtual - 7.0) / rate for virtual, _ in seen], abs=1e-9
    )


def test_a_run_that_fell_behind_catches_up(wall: Wall) -> None:
    async def main() -> list[float]:
        seen = []
        await sleep(1.0)
        wall.time += 5.5  # work that took longer than the clock allowed
        for _ in range(6):
            await sleep(1.0)
            seen.append(wall.time - 1000.0)
        return seen

    assert run(main(), realtime=1.0) == pytest.approx([6.5, 6.5, 6.5, 6.5, 6.5, 7.0])


def test_pacing_changes_nothing_but_the_pace(wall: Wall) -> None:
    async def main() -> tuple[float, str]:
        async def client(number: int) -> None:
            for hop in range(20):
                await sleep((number * 7 + hop) % 5 * 0.25, number)

        await asyncio.gather(*map(client, range(700)))
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        return now(), loop.digest()

    assert run(main()) == run(main(), realtime=1e3)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rate_that_is_no_rate_is_an_error(rate: float) -> None:
    with pytest.raises(ValueError, match="virtual seconds a wall second"):
        Pacer(rate)
