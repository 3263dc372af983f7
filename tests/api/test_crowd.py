"""Many at once: requests are served, connections to the store stay few."""

import asyncio

import httpx
import pytest
from redis.asyncio import Redis

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import SPEC, Api, claimed, lines, submitted, write
from tests.api.watching import stream

pytestmark = pytest.mark.asyncio

MOST = 12  # connections of one API process: a pool of 8, two that listen, the test's own


async def clients(server: EmbeddedServer) -> int:
    async with Redis.from_url(server.url, protocol=2) as redis:
        return len(await redis.client_list())


async def test_250_requests_at_once_share_few_connections(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, server: EmbeddedServer
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 200), 1)
    paths = (f"/v1/jobs/{job}", f"/v1/jobs/{job}/records", "/v1/jobs", "/v1/workers", "/livez")
    async with api.client(connections=250) as many:
        asked = [many.get(paths[number % len(paths)]) for number in range(200)]
        asked += [many.post("/v1/jobs", json={"spec": SPEC}) for _ in range(50)]
        answers = await asyncio.gather(*asked)
        assert await clients(server) <= MOST
    assert {answer.status_code for answer in answers} == {200, 202}
    ids = {answer.json()["id"] for answer in answers if answer.status_code == 202}
    assert len(ids) == 50


async def test_100_streams_that_begin_with_history_share_few_connections(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, server: EmbeddedServer
) -> None:
    """Far behind the live end, each reads the store for itself."""
    jobs = [await submitted(http) for _ in range(4)]
    for job in jobs:
        epoch = await claimed(store, job)
        await write(store, job, epoch, lines(1, 700), 1)

    async def follow(job: str) -> list[int]:
        async with stream(api, job) as watched:
            return (await watched.until(700)).ids

    found = await asyncio.gather(*(follow(job) for job in jobs for _ in range(25)))
    assert found == [list(range(1, 701))] * 100
    assert await clients(server) <= MOST
