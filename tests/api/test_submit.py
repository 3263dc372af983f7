"""Submitting: what is taken, what is refused, and that there is a whole job or none."""

import asyncio
import json
from datetime import datetime
from typing import Any

import httpx
import pytest

from driftfold.spec import digest, from_mapping, load_spec, to_mapping
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.needs import needs_of
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import SPEC, Api, api_on, problem, submitted, talk
from tests.workers.jobs import until

BODY = json.dumps({"spec": SPEC}).encode()

pytestmark = pytest.mark.asyncio


async def jobs(store: RedisJobStore) -> int:
    return len((await store.list(limit=200)).jobs)


async def test_a_job_is_accepted_with_its_whole_specification(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    answer = await http.post("/v1/jobs", json={"spec": SPEC, "name": "Frühling"})
    assert answer.status_code == 202
    told = answer.json()
    assert answer.headers["location"] == f"/v1/jobs/{told['id']}" == told["links"]["self"]
    assert int(answer.headers["retry-after"]) >= 1
    assert (told["state"], told["name"], told["attempt"]) == ("queued", "Frühling", 0)
    assert told["progress"] == {"seq": 0, "rounds": 0, "horizon_rounds": 20}
    wanted = load_spec("pca-synthetic", overrides=["horizon.rounds=20"])
    assert digest(from_mapping(told["spec"])) == digest(wanted)
    assert told["needs"] == list(needs_of(wanted))
    assert (await store.get(told["id"])).spec == to_mapping(wanted)
    assert (await http.get(answer.headers["location"])).json()["id"] == told["id"]


async def test_a_complete_specification_is_taken_and_its_name_is_the_jobs(
    http: httpx.AsyncClient,
) -> None:
    table = to_mapping(load_spec("pca-synthetic"))
    answer = await http.post("/v1/jobs", json={"spec": {**table, "name": "mine"}})
    assert answer.status_code == 202
    assert answer.json()["name"] == "mine"


async def test_terms_are_told_back(http: httpx.AsyncClient, store: RedisJobStore) -> None:
    usual = (await http.post("/v1/jobs", json={"spec": SPEC})).json()
    assert usual["terms"] == {
        "priority": 0,
        "not_before": None,
        "attempts": None,
        "limits": {"cpu_seconds": None, "wall_seconds": None, "memory_mib": None},
        "after": [],
    }
    asked = {
        "priority": -7,
        "not_before": "2030-01-01T08:00:00+01:00",
        "attempts": 2,
        "limits": {"cpu_seconds": 60.5, "wall_seconds": 90, "memory_mib": 512},
        "after": [usual["id"], usual["id"]],
    }
    told = (await http.post("/v1/jobs", json={"spec": SPEC, **asked})).json()
    assert told["terms"] == {
        **asked,
        "not_before": "2030-01-01T07:00:00Z",
        "limits": {"cpu_seconds": 60.5, "wall_seconds": 90.0, "memory_mib": 512},
        "after": [usual["id"]],
    }
    assert (await http.get(told["links"]["self"])).json()["terms"] == told["terms"]
    kept = (await store.get(told["id"])).terms
    assert (kept.limits.memory, kept.limits.wall, kept.priority) == (512 * 2**20, 90.0, -7)


async def test_a_delay_counts_from_the_submission(http: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k"}
    body = {"spec": SPEC, "delay_seconds": 3600}
    told = (await http.post("/v1/jobs", json=body, headers=headers)).json()
    created = datetime.fromisoformat(told["created"])
    not_before = datetime.fromisoformat(told["terms"]["not_before"])
    assert abs((not_before - created).total_seconds() - 3600) < 0.01
    # The same request later means the same job, though the same moment it is not.
    assert (await http.post("/v1/jobs", json=body, headers=headers)).json()["id"] == told["id"]
    for other in ({}, {"delay_seconds": 60}, {"priority": 1, "delay_seconds": 3600}):
        answer = await http.post("/v1/jobs", json={"spec": SPEC, **other}, headers=headers)
        problem(answer, 422, "idempotency-key-reused")


async def test_a_near_miss_is_named(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/jobs", json={"spec": {"extends": "pca-syntetic"}})
    assert "did you mean 'pca-synthetic'" in problem(answer, 422, "invalid-spec")["detail"]


async def test_a_file_of_the_server_is_not_read(
    http: httpx.AsyncClient, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.toml").write_text("secret = 1")
    (tmp_path / "bare").write_text("secret = 1")
    for name in ("there.toml", "./there.toml", str(tmp_path / "there.toml"), "bare"):
        answer = await http.post("/v1/jobs", json={"spec": {"extends": name}})
        assert "secret" not in problem(answer, 422, "invalid-spec")["detail"]


async def test_one_key_makes_one_job(http: httpx.AsyncClient, store: RedisJobStore) -> None:
    headers = {"Idempotency-Key": "k-1"}
    sent = [http.post("/v1/jobs", json={"spec": SPEC}, headers=headers) for _ in range(100)]
    answers = await asyncio.gather(*sent)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert await jobs(store) == 1
    other = {"spec": {**SPEC, "seed": 1}}
    problem(await http.post("/v1/jobs", json=other, headers=headers), 422, "idempotency-key-reused")
    named = {"spec": SPEC, "name": "another"}
    answer = await http.post("/v1/jobs", json=named, headers=headers)
    told = problem(answer, 422, "idempotency-key-reused")
    assert "another specification, name or terms" in told["detail"]
    assert await jobs(store) == 1


def posted(body: bytes) -> bytes:
    """A whole request."""
    head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def test_a_client_that_leaves_amid_its_request_leaves_nothing(
    api: Api, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    request = posted(BODY)
    for sent in (request[: -len(BODY)], request[:-10], request[:-1]):
        await talk(api, sent)
    await until(api.idle)
    assert await jobs(store) == 0
    job = await submitted(http)  # the server is well
    assert [known.id for known in (await store.list()).jobs] == [job]


async def test_a_client_that_leaves_at_once_has_whole_jobs_or_none(
    api: Api, store: RedisJobStore
) -> None:
    for _ in range(20):
        await talk(api, posted(BODY))
    await until(api.idle)
    for job in (await store.list()).jobs:
        assert job.spec["horizon"]["rounds"] == 20
        assert [event.kind for event in await store.events(job.id)] == ["submitted"]


class Held(RedisJobStore):
    """A store that takes its time to take a job."""

    asked, go = asyncio.Event(), asyncio.Event()

    async def enqueue(self, job: Job, *, events: int = 0) -> bool:
        self.asked.set()
        await self.go.wait()
        return await super().enqueue(job, events=events)


async def test_a_client_that_leaves_while_its_job_is_made_has_the_job(
    server: EmbeddedServer,
) -> None:
    Held.asked, Held.go = asyncio.Event(), asyncio.Event()
    async with Held.open(server.url, prefix="held") as store, api_on(store) as api:
        async with asyncio.timeout(30):
            await talk(api, posted(BODY), until=Held.asked)
        await until(api.idle)
        Held.go.set()

        async def there() -> bool:
            return await jobs(store) == 1

        await until(there)
        (job,) = (await store.list()).jobs
        claim = await store.claim("anne", job.needs, 60.0)
        assert claim is not None
        assert claim.job.id == job.id
