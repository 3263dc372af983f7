"""The server is killed, restarted, absent: nothing acknowledged is lost, and calls say what is."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import StoreError, StoreUnreachable
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers import servers
from tests.workers.jobs import KINDS, SPEC, claimed, lines, numbers, reaped, running, submitted

pytestmark = pytest.mark.asyncio


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    """A server for one test, which may kill it."""
    with servers.running() as server:
        yield server


def kill(server: EmbeddedServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    while server.alive():
        pass


async def test_a_kill_in_the_middle_of_appends_loses_nothing(
    server: EmbeddedServer, store: RedisJobStore
) -> None:
    claim = await running(store)
    job, epoch, last = claim.job.id, claim.epoch, 0

    async def append() -> None:
        nonlocal last
        while True:
            batch = lines(last + 1, last + 5, "x" * 2000)
            last = await store.append(
                job, epoch, last + 1, batch, rounds=last + 5, checkpoint=f"1:{last + 5}"
            )

    appending = asyncio.create_task(append())
    for kills in range(1, 4):
        async with asyncio.timeout(30):
            while last < 200 * kills:
                await asyncio.sleep(0.001)
        kill(server)
        acknowledged = last
        server.restart()
        found = await store.get(job)
        assert found.seq >= acknowledged
        # All that one call writes is there, or nothing of it.
        assert found.seq % 5 == 0
        assert (found.rounds, found.checkpoint) == (found.seq, f"1:{found.seq}")
    appending.cancel()
    await asyncio.gather(appending, return_exceptions=True)
    seen = (await store.get(job)).seq
    assert numbers(await store.read(job, limit=100_000)) == list(range(1, seen + 1))


async def test_who_waits_goes_on_over_a_restart(
    server: EmbeddedServer, store: RedisJobStore
) -> None:
    claim = await running(store)
    reading = asyncio.create_task(store.read(claim.job.id, wait=60.0))
    claiming = asyncio.create_task(store.claim("bert", KINDS, 9.0, wait=60.0))
    await asyncio.sleep(0.1)
    kill(server)
    await asyncio.sleep(0.1)
    server.restart()
    async with asyncio.timeout(30):
        assert await store.append(claim.job.id, claim.epoch, 1, lines(1, 1)) == 1
        job = await submitted(store)
        assert numbers(await reading) == [1]
        taken = await claiming
        assert taken is not None
        assert taken.job.id == job.id


async def test_calls_wait_for_a_server_that_is_down(
    server: EmbeddedServer, store: RedisJobStore
) -> None:
    kill(server)
    submitting = asyncio.create_task(store.submit(SPEC, KINDS))
    await asyncio.sleep(0.2)
    assert not submitting.done()
    server.restart()
    async with asyncio.timeout(30):
        job = await submitting
    assert [listed.id for listed in (await store.list()).jobs] == [job.id]


async def test_a_server_that_stays_away(server: EmbeddedServer) -> None:
    async with servers.store_on(server, patience=0.2) as store:
        job = (await submitted(store)).id
        kill(server)
        with pytest.raises(StoreUnreachable, match=r"gave no answer for 0\.2 s") as told:
            await store.get(job)
        assert "REDIS_URL" in str(told.value)
        assert server.url.partition("@")[0].rpartition(":")[2] not in str(told.value)
        with pytest.raises(StoreUnreachable):
            await store.claim("anne", KINDS, 1.0, wait=30.0)
        server.restart()
        assert (await store.get(job)).state is State.QUEUED


async def test_leases_have_their_length_again_after_a_restart(
    server: EmbeddedServer, store: RedisJobStore
) -> None:
    # Their holders could not renew them while the server was down.
    short, long = await running(store, lease=0.1), await running(store, lease=5.0)
    kill(server)
    await asyncio.sleep(0.2)
    server.restart()
    assert await store.reap(3) == []
    assert await store.heartbeat(short.job.id, short.epoch, 0.1) == "ok"
    await reaped(store, short.job.id)
    assert (await store.get(long.job.id)).state is State.RUNNING
    assert (await claimed(store, "bert")).job.attempt == 2


async def test_a_server_that_has_no_room_says_so(
    server: EmbeddedServer, store: RedisJobStore
) -> None:
    claim = await running(store)
    await store._link.call(lambda redis: redis.config_set("maxmemory", "1"))
    with pytest.raises(StoreError, match="maxmemory"):
        await store.append(claim.job.id, claim.epoch, 1, lines(1, 1))
    await store._link.call(lambda redis: redis.config_set("maxmemory", "0"))
    assert await store.append(claim.job.id, claim.epoch, 1, lines(1, 1)) == 1


async def test_an_address_that_is_none() -> None:
    with pytest.raises(StoreError, match="correct REDIS_URL"):
        async with RedisJobStore.open("http://example.org"):
            pass


async def test_a_server_that_wants_another_password(server: EmbeddedServer) -> None:
    wrong = server.url.replace("redis://:", "redis://:not")
    async with RedisJobStore.open(wrong, patience=1000.0) as store, asyncio.timeout(30):
        with pytest.raises(StoreError, match="wants another password"):
            await store.get("x")
