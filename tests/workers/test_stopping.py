"""A task that is stopped is over, whatever becomes of its first cancellation."""

import asyncio
import sys

import pytest

from driftfold_workers import stopping
from driftfold_workers.redis.link import heeding_cancel
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.stopping import stopped

pytestmark = pytest.mark.asyncio

HANG = 30.0  # seconds after which a test is taken to hang


async def deaf(times: int) -> None:
    """Go on for ever, over so many cancellations."""
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            times -= 1
            if times < 0:
                raise


async def failing() -> None:
    raise ValueError("no")


async def test_cancellations_may_get_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "AGAIN", 0.01)
    tasks = [asyncio.create_task(deaf(times)) for times in range(4)]
    tasks.append(asyncio.create_task(failing()))
    await asyncio.sleep(0)
    async with asyncio.timeout(HANG):
        await stopped(*tasks)
    assert all(task.done() for task in tasks)


async def test_who_stops_may_be_canceled_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stopping, "AGAIN", 0.01)
    task = asyncio.create_task(deaf(3))
    await asyncio.sleep(0)
    outer = asyncio.create_task(stopped(task))
    await asyncio.sleep(0)
    outer.cancel()
    async with asyncio.timeout(HANG):
        with pytest.raises(asyncio.CancelledError):
            await outer
    assert task.done()


async def test_a_store_drops_no_cancellation(store: RedisJobStore) -> None:
    async def ask() -> None:
        while True:
            await store.heartbeat("nobody", 1, 1.0)

    await store.workers()  # connects
    for steps in range(40):
        task = asyncio.create_task(ask())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=HANG)
        assert task.cancelled(), f"after {steps} steps"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="wait_for was mended")
async def test_what_python_3_11_drops() -> None:
    # Else `heeding_cancel` can go.
    async def call() -> int:
        await asyncio.wait_for(asyncio.sleep(0), 5.0)
        return 1

    for wanted, work in ((False, call), (True, lambda: heeding_cancel(call()))):
        ends = []
        for steps in range(1, 6):
            task = asyncio.ensure_future(work())
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.cancel():
                await asyncio.wait({task})
                ends.append(task.cancelled())
        assert all(ends) is wanted
