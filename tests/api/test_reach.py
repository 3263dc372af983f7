"""Reaching the job store: one waits for it when it is away, the others are told at once."""

import asyncio

import pytest

from driftfold_api.reach import Reach
from driftfold_workers.jobs.store import StoreRefuses, StoreUnreachable, UnknownJob

pytestmark = pytest.mark.asyncio


class Store:
    """Answers or not, and counts who asks."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = 0
        self.silent = False

    async def call(self) -> str:
        self.asked += 1
        if self.silent:
            await asyncio.sleep(1000)
        if self.error is not None:
            raise self.error
        return "here"


async def test_a_store_that_is_away_is_asked_by_one_at_a_time() -> None:
    store, reach = Store(), Reach(within=0.05, again=0.0)
    assert await reach.ask(store.call) == "here"
    store.silent = True
    with pytest.raises(StoreUnreachable, match=r"no answer for 0\.05 s"):
        await reach.ask(store.call)
    assert reach.lost
    asked = store.asked
    outcomes = await asyncio.gather(
        *(reach.ask(store.call) for _ in range(9)), return_exceptions=True
    )
    assert all(isinstance(outcome, StoreUnreachable) for outcome in outcomes)
    assert store.asked == asked + 1
    store.silent = False
    assert await reach.ask(store.call) == "here"
    assert not reach.lost


async def test_it_is_not_asked_again_at_once() -> None:
    store, reach = Store(), Reach(again=1000.0)
    store.error = StoreUnreachable("gone")
    for _ in range(3):
        with pytest.raises(StoreUnreachable, match="gone"):
            await reach.ask(store.call)
    assert store.asked == 1


@pytest.mark.parametrize("error", [UnknownJob("no"), StoreRefuses("full")])
async def test_a_store_that_says_no_is_there(error: Exception) -> None:
    store, reach = Store(), Reach(again=0.0)
    store.error = StoreUnreachable("gone")
    with pytest.raises(StoreUnreachable):
        await reach.ask(store.call)
    assert reach.lost
    store.error = error
    with pytest.raises(type(error)):
        await reach.ask(store.call)
    assert not reach.lost


async def test_one_who_leaves_while_it_asks_leaves_the_way_free() -> None:
    store, reach = Store(), Reach(within=0.01, again=0.0)
    store.silent = True
    with pytest.raises(StoreUnreachable):
        await reach.ask(store.call)
    asking = asyncio.create_task(reach.ask(store.call, wait=1000.0))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    store.silent = False
    assert await reach.ask(store.call) == "here"
