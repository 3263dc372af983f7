"""A reply that is lost makes a call reach the server twice; it must count once."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import Conflict
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers.jobs import KINDS, SPEC, claimed, lines, numbers, running, submitted, told
from tests.workers.proxies import Losing, losing

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def proxy(server: EmbeddedServer) -> AsyncIterator[Losing]:
    async with losing(server.url) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def store(proxy: Losing, request: pytest.FixtureRequest) -> AsyncIterator[RedisJobStore]:
    async with RedisJobStore.open(proxy.url, prefix=request.node.name) as store:
        yield store
        assert proxy.lost > 0
        assert proxy.lose == 0


async def test_submit(store: RedisJobStore, proxy: Losing) -> None:
    proxy.lose = 2
    job = await store.submit(SPEC, KINDS)
    assert [listed.id for listed in (await store.list()).jobs] == [job.id]
    assert await told(store, job.id) == ["submitted"]


async def test_claim(store: RedisJobStore, proxy: Losing) -> None:
    first, second = await submitted(store), await submitted(store)
    proxy.lose = 2
    claim = await claimed(store)
    assert (claim.job.id, claim.job.attempt) == (first.id, 1)
    assert await told(store, first.id) == ["submitted", "claimed"]
    assert (await store.get(second.id)).state is State.QUEUED


async def test_append(store: RedisJobStore, proxy: Losing) -> None:
    claim = await running(store)
    proxy.lose = 2
    assert await store.append(claim.job.id, claim.epoch, 1, lines(1, 3), checkpoint="1:a") == 3
    assert numbers(await store.read(claim.job.id)) == [1, 2, 3]
    assert await told(store, claim.job.id) == ["submitted", "claimed", "checkpoint"]


async def test_finish(store: RedisJobStore, proxy: Losing) -> None:
    claim = await running(store)
    proxy.lose = 2
    await store.finish(claim.job.id, claim.epoch, State.SUCCEEDED, result={"a": 1})
    assert (await store.get(claim.job.id)).result == {"a": 1}
    assert await told(store, claim.job.id) == ["submitted", "claimed", "succeeded"]


@pytest.mark.parametrize(
    ("counted", "attempts", "state", "attempt"),
    [(True, 3, State.QUEUED, 1), (False, 1, State.QUEUED, 0), (True, 1, State.FAILED, 1)],
)
async def test_release(
    store: RedisJobStore, proxy: Losing, counted: bool, attempts: int, state: State, attempt: int
) -> None:
    claim = await running(store)
    proxy.lose = 2
    why = "died"
    assert state is await store.release(
        claim.job.id, claim.epoch, reason=why, counted=counted, attempts=attempts
    )
    job = await store.get(claim.job.id)
    assert (job.state, job.attempt) == (state, attempt)
    assert (await told(store, job.id)).count("released") == 1


async def test_cancel(store: RedisJobStore, proxy: Losing) -> None:
    job = await submitted(store)
    proxy.lose = 2
    assert (await store.cancel(job.id)).state is State.CANCELED
    assert await told(store, job.id) == ["submitted", "canceled"]
    with pytest.raises(Conflict, match="canceled"):
        await store.cancel(job.id)


async def test_pause_and_resume(store: RedisJobStore, proxy: Losing) -> None:
    job = await submitted(store)
    proxy.lose = 2
    assert (await store.pause(job.id)).state is State.PAUSED
    proxy.lose = 2
    assert (await store.resume(job.id)).state is State.QUEUED
    claim = await claimed(store)
    proxy.lose = 2
    assert (await store.pause(job.id)).state is State.RUNNING
    proxy.lose = 2
    assert (await store.resume(job.id)).reason == ""
    assert await store.heartbeat(job.id, claim.epoch, 30.0) == "ok"
    assert await told(store, job.id) == [
        "submitted", "paused", "unpaused", "claimed", "pause-requested", "unpaused",
    ]  # fmt: skip


async def test_delete(store: RedisJobStore, proxy: Losing) -> None:
    job = await submitted(store)
    await store.cancel(job.id)
    proxy.lose = 1
    await store.delete(job.id)
    assert (await store.list()).jobs == []
