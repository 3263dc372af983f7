"""Streams in bad weather: clients that leave or stall, a server or a store that goes away."""

import asyncio
import gc
import os
import signal
import weakref
from pathlib import Path

import httpx
import pytest

from driftfold_api import feed, feeds
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, api_on, claimed, finish, lines, submitted, write
from tests.api.watching import Stream, stream
from tests.workers import servers
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


async def test_a_client_that_leaves_frees_everything_at_once(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    """Nothing is written meanwhile: a server that noticed only at a write would keep it all."""
    job = await submitted(http)
    tasks = 0
    for _ in range(5):
        await until(api.idle)
        tasks = len(asyncio.all_tasks())  # the first stream wakes those that stay
        async with stream(api, job) as watched:
            await watched.until_named("submitted")
            (followed,) = (weakref.ref(found) for found in api.service.feeds._feeds.values())
    await http.aclose()
    await until(api.idle)

    async def freed() -> bool:  # what was cancelled takes a few steps of the loop to end
        gc.collect()
        return followed() is None and len(asyncio.all_tasks()) <= tasks

    await until(freed)


async def test_a_long_poll_of_a_client_that_left_is_given_up(
    api: Api, http: httpx.AsyncClient
) -> None:
    job = await submitted(http)
    with pytest.raises(httpx.ReadTimeout):
        await http.get(f"/v1/jobs/{job}/records?wait=60", timeout=0.2)

    async def given_up() -> bool:
        return not [task for task in asyncio.all_tasks() if "read" in repr(task.get_coro())]

    await until(given_up, within=20)


async def test_slow_readers_slow_nobody_and_miss_nothing(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10 readers that stall while 12 MB are published; far more than a feed keeps for them."""
    monkeypatch.setattr(feed, "KEPT", 2**18)
    job = await submitted(http)
    epoch = await claimed(store, job)
    stalled: list[Stream] = []
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        doors = [stream(api, job) for _ in range(10)]
        stalled += [await door.__aenter__() for door in doors]

        async def quick() -> list[int]:
            async with stream(api, job) as watched:
                return (await watched.whole()).ids

        reading = group.create_task(quick())
        for first in range(1, 1201, 100):
            await write(store, job, epoch, lines(first, first + 99, "x" * 10_000), first)
        await finish(store, job, epoch)
        assert await reading == list(range(1, 1201))
        (kept,) = api.service.feeds._feeds.values()
        assert sum(map(len, kept._kept)) <= 2**18  # nothing is kept for those who stall
        woken = await asyncio.gather(*(one.whole() for one in stalled))
        assert [seen.ids for seen in woken] == [list(range(1, 1201))] * 10
        for door in doors:
            await door.__aexit__(None, None, None)
    await until(api.idle)


async def test_a_reader_that_takes_nothing_is_let_go(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "SEND_WITHIN", 0.5)
    monkeypatch.setattr(feeds, "BEAT", 0.2)
    job = await submitted(http)
    epoch = await claimed(store, job)
    for first in range(1, 2001, 200):
        await write(store, job, epoch, lines(first, first + 199, "x" * 10_000), first)

    async def nobody() -> bool:
        return not api.service.feeds.followed

    async with stream(api, job):
        await until(nobody)


async def test_streams_say_that_they_live(
    api: Api, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "BEAT", 0.1)
    job = await submitted(http)
    async with stream(api, job) as watched:
        while watched.seen.texts.count(": ping") < 3:
            assert await watched.more()


async def test_a_server_that_stops_ends_its_streams_and_waits(
    api: Api, http: httpx.AsyncClient
) -> None:
    job = await submitted(http)
    async with stream(api, job) as watched:
        await watched.until_named("submitted")
        waiting = asyncio.create_task(http.get(f"/v1/jobs/{job}/records?wait=60"))

        async def both() -> bool:
            return api.connections >= 2

        await until(both)
        async with asyncio.timeout(10):  # uvicorn alone would wait for the clients
            await api.stop()
        seen = await watched.whole()
        assert seen.texts[-1].startswith("retry: ")
        assert "end" not in seen.names
        assert (await waiting).json()["records"] == []


async def test_over_a_restart_a_client_gets_exactly_what_it_missed(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    """Records come before, while nobody serves, and after; no stop is graceful to the reader."""
    job = await submitted(http)
    epoch = await claimed(store, job)
    got: list[int] = []
    written = 0
    for _ in range(3):
        last = got[-1] if got else 0
        async with stream(api, job, headers={"Last-Event-ID": str(last)}) as watched:
            await write(store, job, epoch, lines(written + 1, written + 700), written + 1)
            written += 700
            await watched.until(written - 300)
            await api.stop()
            await watched.whole()
            got += watched.seen.ids
        await write(store, job, epoch, lines(written + 1, written + 50), written + 1)
        written += 50
        await api.start()
    await finish(store, job, epoch)
    async with stream(api, job, headers={"Last-Event-ID": str(got[-1])}) as watched:
        got += (await watched.whole()).ids
    assert got == list(range(1, written + 1))


async def test_a_stream_outlives_the_death_of_redis(tmp_path: Path) -> None:
    with servers.running() as server:
        async with servers.store_on(server) as store, api_on(store) as api, api.client() as http:
            job = await submitted(http)
            epoch = await claimed(store, job)
            await write(store, job, epoch, lines(1, 300), 1)
            async with stream(api, job) as watched:
                await watched.until(300)
                await asyncio.to_thread(_kill, server)
                await asyncio.to_thread(server.restart)
                await write(store, job, epoch, lines(301, 600), 301)
                await finish(store, job, epoch)
                seen = await watched.whole()
            assert seen.ids == list(range(1, 601))
            assert seen.names[-1] == "end"


def _kill(server: EmbeddedServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    while server.alive():
        pass
