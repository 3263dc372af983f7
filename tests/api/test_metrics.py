"""What Prometheus is told, from a job to its followers; and that no job has a series of its own."""

from collections.abc import Mapping

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import NOBODY, Api, api_on, claimed, finish, lines, submitted, write
from tests.workers import servers

pytestmark = pytest.mark.asyncio

Samples = Mapping[tuple[str, tuple[str, ...]], float]


async def told(http: httpx.AsyncClient) -> Samples:
    """The samples, by name and values of labels."""
    answer = await http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name.removeprefix("driftfold_"), tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def lived(http: httpx.AsyncClient, store: RedisJobStore, records: int = 3) -> str:
    """A job that was run to its end, and followed."""
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, records), 1)
    await finish(store, job, epoch, outcome="finished")
    stream = await http.get(f"/v1/jobs/{job}/events")
    assert stream.text.count("\nid: ") == records
    return job


async def test_a_job_is_counted_from_its_submission_to_its_followers(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    await store.announce("anne", ["task:pca"], 2, 60.0)
    await lived(http, store)
    await claimed(store, await submitted(http))
    await submitted(http)
    seen = await told(http)
    expected = {
        ("store_up", ()): 1,
        ("archive_up", ()): 1,
        ("jobs", ("queued",)): 1,
        ("jobs", ("running",)): 1,
        ("queue_depth", ("normal",)): 1,
        ("queue_depth", ("high",)): 0,
        ("workers", ()): 1,
        ("slots", ("busy",)): 1,
        ("slots", ("free",)): 1,
        ("jobs_submitted_total", ()): 3,
        ("jobs_ended_total", ("succeeded",)): 1,
        ("attempts_total", ("finished",)): 1,
        ("attempts_started_total", ("anew",)): 2,
        ("records_total", ()): 3,
        ("rounds_total", ()): 3,
        ("virtual_seconds_total", ()): 180,
        ("sse_followers", ()): 0,
        ("sse_events_sent_total", ()): 3 + 3 + 1,  # records, lifecycle events, the end
        ("http_requests_total", ("POST", "/v1/jobs", "2xx")): 3,
        ("http_request_seconds_count", ("/v1/jobs/{job}/events",)): 1,
    }
    assert {name: seen[name] for name in expected} == expected


async def test_a_hundred_jobs_have_as_many_series_as_one(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    async def all_sorts(number: int) -> None:
        await lived(http, store, records=1)
        await http.get(f"/nothing/{number}")
        await http.get(f"/v1/jobs/{NOBODY[:-2]}{number:02}")

    await told(http)  # which has series, too
    await all_sorts(0)
    one = await told(http)
    for _ in range(98):
        job = (await store.submit({}, ["task:pca"])).id
        await write(store, job, await claimed(store, job), lines(1, 2), 1)
        await finish(store, job, 1, outcome="finished")
    await all_sorts(99)
    hundred = await told(http)
    assert set(hundred) == set(one)
    assert hundred["jobs_ended_total", ("succeeded",)] == 100
    assert hundred["http_requests_total", ("GET", "none", "4xx")] == 2


async def test_what_was_refused_is_counted_by_its_problem(http: httpx.AsyncClient) -> None:
    await http.post("/v1/jobs", json={"spec": {"extends": "no such preset"}})
    await http.post("/v1/jobs", content=b"{", headers={"content-type": "application/json"})
    await http.get(f"/v1/jobs/{NOBODY}")
    await http.get("/livez", headers={"host": "evil.example"})
    seen = await told(http)
    refused = {
        labels[0]: value for (name, labels), value in seen.items() if name == "http_problems_total"
    }
    assert {slug for slug, value in refused.items() if value} == {
        *("invalid-spec", "malformed", "unknown-job", "misdirected"),
    }
    assert seen["submissions_rejected_total", ("invalid-spec",)] == 1
    assert seen["submissions_rejected_total", ("malformed",)] == 1
    assert seen["submissions_rejected_total", ("unknown-job",)] == 0


async def test_counts_outlive_the_process_that_tells_them(api: Api, store: RedisJobStore) -> None:
    async with api.client() as http:
        await lived(http, store)
        before = await told(http)
    await api.stop()
    await api.start()
    async with api.client() as http:
        after = await told(http)
    shared = ("records_total", "rounds_total", "jobs_submitted_total", "attempts_total")
    for name, labels in before:
        if name in shared:
            assert after[name, labels] == before[name, labels]


async def test_what_is_not_recorded_yet_is_told(store: RedisJobStore) -> None:
    await store.window.lead("another", 60.0)
    async with api_on(store) as api, api.client() as http:
        job = await submitted(http)
        epoch = await claimed(store, job)
        await write(store, job, epoch, lines(1, 7), 1)
        seen = await told(http)
        assert (seen["archive_lag_jobs", ()], seen["archive_lag_records", ()]) == (1, 7)
        assert seen["recorder_in_charge", ()] == 0


async def test_without_its_job_store_it_tells_the_rest() -> None:
    with servers.running() as server:
        async with (
            servers.store_on(server, 0.2) as store,
            api_on(store) as api,
            api.client() as http,
        ):
            await submitted(http)
            server.stop()
            seen = await told(http)
            assert (seen["store_up", ()], seen["archive_up", ()]) == (0, 1)
            assert seen["jobs", ("queued",)] == 1
            assert seen["http_requests_total", ("POST", "/v1/jobs", "2xx")] == 1
            assert not [name for name, _ in seen if name in ("queue_depth", "records_total")]
