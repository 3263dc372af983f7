"""The API as a process of its own: it is killed, it is stopped, thousands watch it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from bench.crowd import crowd, stalled
from bench.serving import serving
from driftfold_api.descriptors import allow_many
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import claimed, finish, lines, submitted, write
from tests.api.watching import Seen, stream
from tests.browser.processes import ApiProcess, started

pytestmark = [pytest.mark.asyncio, pytest.mark.slow]


@pytest_asyncio.fixture
async def process(
    server: EmbeddedServer, store: RedisJobStore, tmp_path: Path
) -> AsyncIterator[ApiProcess]:
    async with started(server.url, store.keys.prefix, tmp_path) as process:
        yield process


async def running(url: str, store: RedisJobStore, count: int) -> list[tuple[str, int]]:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
        jobs = []
        for _ in range(count):
            job = await submitted(http)
            jobs.append((job, await claimed(store, job, 3600.0)))
        return jobs


async def follow(url: str, job: str, query: str, ends: int) -> Seen:
    """Watch over any number of connections as a browser does: whole events count, and their ids."""
    whole = Seen()
    while sum("event: end" in text for text in whole.texts) < ends:
        headers = {"Last-Event-ID": last} if (last := whole.last_id) else {}
        with suppress(OSError, EOFError):
            async with stream(url, job, query, headers) as watched:
                try:
                    await watched.whole()
                finally:
                    whole.texts += watched.seen.texts
        await asyncio.sleep(0.05)
    return whole


async def test_over_kills_of_the_api_each_subscriber_gets_every_record_once(
    process: ApiProcess, store: RedisJobStore
) -> None:
    jobs = await running(process.origin, store, 3)
    names = [job for job, _ in jobs]
    many = f"?jobs={','.join(names)}"
    following = [
        asyncio.create_task(
            follow(process.origin, names[at % 3], "", 1)
            if at % 2
            else follow(process.origin, "", many, 3)
        )
        for at in range(40)
    ]
    written = 0
    for step in range(12):
        for job, epoch in jobs:
            await write(store, job, epoch, lines(written + 1, written + 150), written + 1)
        written += 150
        await asyncio.sleep(0.05)
        if step % 4 == 1:
            process.kill()
            await asyncio.sleep(0.05)
        if step % 4 == 2:  # records came meanwhile
            await process.start()
    for job, epoch in jobs:
        await finish(store, job, epoch)
    for at, task in enumerate(following):
        seen = await task
        if at % 2:
            assert seen.ids == list(range(1, written + 1))
        else:
            for job in names:
                numbers = [int(what) for of, what in seen.told if of == job and what.isdigit()]
                assert numbers == list(range(1, written + 1))


async def test_an_api_that_stops_waits_for_no_reader(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    """Stalled ones hold megabytes that are on their way to them; the others get whole events."""
    with serving(tmp_path, server.url, 0) as (port, pid):
        url = f"http://127.0.0.1:{port}"
        async with RedisJobStore.open(server.url) as store:
            ((job, epoch),) = await running(url, store, 1)
            with stalled(port, [f"/v1/jobs/{job}/events"] * 20):
                async with stream(url, job) as watched:
                    for first in range(1, 2001, 200):
                        records = lines(first, first + 199, "x" * 5000)
                        await write(store, job, epoch, records, first)
                    await watched.until(2000)
                    os.kill(pid, signal.SIGTERM)
                    async with asyncio.timeout(9):  # uvicorn by itself waits for 10
                        seen = await watched.whole()
                        ended = os.P_PID, pid, os.WEXITED | os.WNOWAIT
                        status = await asyncio.to_thread(os.waitid, *ended)
    assert seen.texts[-1].startswith("retry: ")
    assert seen.ids == list(range(1, 2001))
    assert status is not None
    assert status.si_status == 0


async def test_five_thousand_watch_on_a_dozen_connections_to_redis(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    allow_many()
    with serving(tmp_path, server.url, 0) as (port, _):
        async with (
            RedisJobStore.open(server.url) as store,
            Redis.from_url(server.url, protocol=2) as redis,
        ):
            jobs = await running(f"http://127.0.0.1:{port}", store, 5)
            paths = [f"/v1/jobs/{jobs[number % 5][0]}/events" for number in range(5000)]
            own = 3  # the test's store, what it listens with, and the one that asks
            with crowd(port, paths) as watching:
                for seq in range(1, 4):
                    for job, epoch in jobs:
                        await write(store, job, epoch, lines(seq, seq), seq)
                    watching.until(seq)
                assert {watcher.seen for watcher in watching.watchers} == {3}
                assert len(await redis.client_list()) <= 12 + own
