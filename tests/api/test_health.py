"""Health, workers, and what is told when the store is away or a route breaks."""

import asyncio
from pathlib import Path

import httpx
import pytest

from driftfold_api.routes import health
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import StoreError, StoreUnreachable
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import NOBODY, SPEC, Api, api_on, claimed, problem, submitted
from tests.archive.databases import no_more_pages
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
            await submitted(http)
            server.stop()
            assert (await http.get("/livez")).status_code == 200
            ready = await http.get("/readyz")
            told = ready.json()
            assert (ready.status_code, told["status"], set(told)) == (
                200, "degraded", {"status", "detail"},
            )  # fmt: skip
            assert told["detail"].startswith("the job store at ")
            assert told["detail"].endswith("; jobs are accepted, and run when it is back")
            asked = [
                *(http.get(path) for path in ("/v1/workers", f"/v1/jobs/{NOBODY}")),
            ]
            for answer in await asyncio.gather(*asked):
                problem(answer, 503, "store-unreachable")
                assert int(answer.headers["retry-after"]) >= 1
                assert server.folder.name not in answer.text
            for path in ("/v1/kinds", "/v1/schema", "/v1/presets"):
                assert (await http.get(path)).status_code == 200


async def test_an_archive_that_takes_nothing_makes_the_service_unready(
    http: httpx.AsyncClient, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.archive._write(no_more_pages)
    assert (await http.get("/readyz")).status_code == 200  # there is room for little
    long = {"spec": SPEC, "name": "x" * 200}
    async with asyncio.timeout(60):
        while (answer := await http.post("/v1/jobs", json=long)).status_code == 202:
            pass
    assert "the archive takes no writes: " in problem(answer, 503, "store-refuses")["detail"]
    assert int(answer.headers["retry-after"]) >= 1

    async def away() -> None:
        raise StoreUnreachable("the archive at x cannot be reached")

    monkeypatch.setattr(api.archive, "ping", away)
    answer = await http.get("/readyz")
    assert "the archive" in problem(answer, 503, "store-unreachable")["detail"]
    monkeypatch.setattr(api.archive, "ping", lambda: asyncio.sleep(1000))
    monkeypatch.setattr(health, "ANSWER_WITHIN", 0.01)
    answer = await http.get("/readyz")
    told = problem(answer, 503, "store-unreachable")["detail"]
    assert told == "the archive took no write for 0.01 s"


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
