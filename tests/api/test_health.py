"""Health, workers, and what is told when the store is away or a route breaks."""

import asyncio
from pathlib import Path

import httpx
import pytest

from driftfold_workers.job import Job
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.store import StoreError
from tests.api.serving import NOBODY, Api, api_on, claimed, problem, submitted
from tests.workers import servers

pytestmark = pytest.mark.asyncio


async def test_workers_that_are_there_are_told(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    assert (await http.get("/livez")).json() == {"status": "ok"}
    assert (await http.get("/readyz")).json() == {"status": "ready", "workers": 0}
    await store.announce("anne", ["task:pca"], 2, 60.0)
    job = await submitted(http)
    await claimed(store, job)
    (worker,) = (await http.get("/v1/workers")).json()["workers"]
    assert (worker["name"], worker["slots"], worker["kinds"]) == ("anne", 2, ["task:pca"])
    assert worker["jobs"] == [job]
    assert worker["seen"] >= 0
    assert (await http.get("/readyz")).json()["workers"] == 1


async def test_without_its_job_store_the_service_says_what_it_cannot_do(tmp_path: Path) -> None:
    with servers.running() as server:
        async with (
            servers.store_on(server, 0.2) as store,
            api_on(store) as api,
            api.client() as http,
        ):
            job = await submitted(http)
            server.stop()
            assert (await http.get("/livez")).status_code == 200
            asked = [
                *(http.get(path) for path in ("/readyz", "/v1/workers", f"/v1/jobs/{NOBODY}")),
                http.post(f"/v1/jobs/{job}/cancel"),
                http.delete(f"/v1/jobs/{job}"),
            ]
            for answer in await asyncio.gather(*asked):
                problem(answer, 503, "store-unreachable")
                assert int(answer.headers["retry-after"]) >= 1
                assert server.folder.name not in answer.text
            for path in ("/v1/kinds", "/v1/schema", "/v1/presets"):
                assert (await http.get(path)).status_code == 200


@pytest.mark.parametrize("error", [KeyError("secret"), StoreError("secret")])
async def test_a_fault_is_told_without_its_inside(
    api: Api, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def broken(job: str) -> Job:
        raise error

    job = await submitted(http)
    monkeypatch.setattr(api.store, "get", broken)
    answer = await http.get(f"/v1/jobs/{job}")
    told = problem(answer, 500, "internal")
    assert "secret" not in answer.text
    assert "log" in told["detail"]
    assert (await http.get("/livez")).status_code == 200
