"""The queue, the workers and the parts of the service, as an operator is told of them."""

import socket

import httpx
import pytest

from driftfold import __version__
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, api_on, claimed, finish, problem, submitted
from tests.workers import servers

pytestmark = pytest.mark.asyncio


async def test_the_queue_is_told_by_priority_and_by_what_jobs_wait_for(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    empty = (await http.get("/v1/queue")).json()
    assert (empty["depth"], empty["wait_seconds"], empty["ended_per_minute"]) == (0, 0, 0)
    await store.announce("anne", ["task:pca"], 2, 60.0)
    first = await submitted(http, priority=9)
    await claimed(store, first)
    await submitted(http, priority=5)
    await submitted(http)
    await submitted(http, priority=-5)
    await submitted(http, delay_seconds=1000)
    await submitted(http, after=[first])
    told = (await http.get("/v1/queue")).json()
    assert {line["priority"]: line["depth"] for line in told["lines"]} == {
        "high": 1,
        "normal": 1,
        "low": 1,
    }
    assert all(0 <= line["oldest_seconds"] < 60 for line in told["lines"])
    facts = ("depth", "delayed", "held", "paused", "running", "dead", "slots")
    assert [told[name] for name in facts] == [3, 1, 1, 0, 1, 0, 2]
    assert told["wait_seconds"] is None  # nothing has ended yet
    assert told["limit"] == api.service.store.queue_limit


async def test_what_ended_tells_how_long_the_rest_may_take(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    for _ in range(3):
        job = await submitted(http)
        await finish(store, job, await claimed(store, job))
        await store.window.recorded(job, 0, 3)  # as the recorder does
    for _ in range(2):
        await submitted(http)
    told = (await http.get("/v1/queue")).json()
    assert told["ended_per_minute"] == pytest.approx(0.3)
    assert told["wait_seconds"] == pytest.approx(400)


async def test_workers_tell_where_they_are(http: httpx.AsyncClient, store: RedisJobStore) -> None:
    await store.announce("anne", ["task:pca"], 2, 60.0)
    (worker,) = (await http.get("/v1/workers")).json()["workers"]
    assert (worker["host"], worker["version"]) == (socket.gethostname(), __version__)


async def test_all_parts_answer(api: Api, http: httpx.AsyncClient, store: RedisJobStore) -> None:
    await submitted(http)
    await api.service.keeper.step()
    told = (await http.get("/v1/condition")).json()
    assert told["job_store"] == told["archive"] == {"up": True, "detail": ""}
    assert (told["recorder"]["up"], told["recorder"]["here"]) == (True, True)
    assert told["jobs"]["queued"] == 1
    assert told["version"] == __version__


async def test_without_its_job_store_the_condition_is_told_all_the_same() -> None:
    with servers.running() as server:
        async with (
            servers.store_on(server, 0.2) as store,
            api_on(store) as api,
            api.client() as http,
        ):
            await submitted(http)
            server.stop()
            answer = await http.get("/v1/condition")
            assert answer.status_code == 200
            told = answer.json()
            assert (told["job_store"]["up"], told["archive"]["up"]) == (False, True)
            assert told["job_store"]["detail"]
            assert server.folder.name not in answer.text
            assert told["recorder"] == {
                "up": False,
                "here": False,
                "lag_jobs": None,
                "lag_records": None,
            }
            assert told["jobs"]["queued"] == 1
            problem(await http.get("/v1/queue"), 503, "store-unreachable")
