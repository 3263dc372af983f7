"""Jobs: look, list, cancel, delete, and what happened to them."""

from typing import Any

import httpx
import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import claimed, finish, lines, problem, submitted, write

pytestmark = pytest.mark.asyncio


async def test_a_job_is_told_from_queue_to_end(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    told = (await http.get(f"/v1/jobs/{job}")).json()
    assert (told["started"], told["finished"], told["worker"]) == (None, None, "")
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 5), 1)
    told = (await http.get(f"/v1/jobs/{job}")).json()
    assert (told["state"], told["worker"], told["attempt"]) == ("running", "anne", 1)
    assert told["progress"] == {"seq": 5, "rounds": 5, "horizon_rounds": 20}
    await finish(store, job, epoch)
    told = (await http.get(f"/v1/jobs/{job}")).json()
    assert told["state"] == "succeeded"
    assert told["created"] < told["started"] < told["finished"]
    assert told["finished"].endswith("Z")


async def test_an_etag_holds_until_the_job_changes(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    paths = (f"/v1/jobs/{job}", "/v1/jobs")
    tags = [(await http.get(path)).headers["etag"] for path in paths]
    for path, tag in zip(paths, tags, strict=True):
        for known in (tag, f'"other", {tag}', "*"):
            same = await http.get(path, headers={"If-None-Match": known})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    await write(store, job, epoch, lines(1, 1), 1)
    for path, tag in zip(paths, tags, strict=True):
        changed = await http.get(path, headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert changed.headers["etag"] != tag


async def test_the_list_is_walked_page_by_page_newest_first(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    made = [await submitted(http, name=f"n{number}") for number in range(5)]
    found, url = [], "/v1/jobs?limit=2"
    while url:
        page = (await http.get(url)).json()
        assert len(page["jobs"]) <= 2
        found += [job["id"] for job in page["jobs"]]
        if len(found) == 2:
            await submitted(http)  # a newcomer shifts nothing
        url = page["next"]
    assert found == made[::-1]
    assert "spec" not in page["jobs"][0]
    await store.cancel(made[1])
    canceled = (await http.get("/v1/jobs", params={"state": "canceled"})).json()
    assert [job["id"] for job in canceled["jobs"]] == [made[1]]
    assert canceled["cursor"] is None


async def test_cancel_of_a_queued_job_is_at_once_and_only_once(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    answer = await http.post(f"/v1/jobs/{job}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (202, "canceled")
    assert "retry-after" not in answer.headers
    problem(await http.post(f"/v1/jobs/{job}/cancel"), 409, "conflict")
    assert await store.claim("anne", answer.json()["needs"], 60.0) is None


async def test_cancel_of_a_running_job_is_a_wish_that_may_be_repeated(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    for _ in range(2):
        answer = await http.post(f"/v1/jobs/{job}/cancel")
        assert (answer.status_code, answer.json()["state"]) == (202, "canceling")
        assert "retry-after" in answer.headers
    assert await store.heartbeat(job, epoch, 60.0) == "cancel"


async def test_a_job_is_paused_and_resumed(http: httpx.AsyncClient, store: RedisJobStore) -> None:
    job = await submitted(http)
    answer = await http.post(f"/v1/jobs/{job}/pause")
    assert (answer.status_code, answer.json()["state"]) == (202, "paused")
    assert "retry-after" not in answer.headers
    assert await store.claim("anne", answer.json()["needs"], 60.0) is None
    (listed,) = (await http.get("/v1/jobs", params={"state": "paused"})).json()["jobs"]
    assert listed["id"] == job
    assert (await http.post(f"/v1/jobs/{job}/resume")).json()["state"] == "queued"
    told = problem(await http.post(f"/v1/jobs/{job}/resume"), 409, "conflict")
    assert told["detail"] == f"job {job} is queued; only a paused job can be resumed"
    epoch = await claimed(store, job)
    answer = await http.post(f"/v1/jobs/{job}/pause")
    assert (answer.status_code, answer.headers["retry-after"]) == (202, "1")
    assert (answer.json()["state"], answer.json()["pausing"]) == ("running", True)
    assert await store.heartbeat(job, epoch, 60.0) == "pause"
    await store.release(job, epoch, reason="", counted=False, attempts=1, outcome="paused")
    told = (await http.get(f"/v1/jobs/{job}")).json()
    assert (told["state"], told["pausing"], told["attempt"]) == ("paused", False, 0)
    (attempt,) = (await http.get(f"/v1/jobs/{job}/attempts")).json()["attempts"]
    assert attempt["outcome"] == "paused"
    assert (await http.post(f"/v1/jobs/{job}/cancel")).json()["state"] == "canceled"


async def test_only_what_is_over_can_be_deleted(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    told = problem(await http.delete(f"/v1/jobs/{job}"), 409, "conflict")
    assert "queued" in told["detail"]
    epoch = await claimed(store, job)
    problem(await http.delete(f"/v1/jobs/{job}"), 409, "conflict")
    await finish(store, job, epoch)
    answer = await http.delete(f"/v1/jobs/{job}")
    assert (answer.status_code, answer.content) == (204, b"")
    problem(await http.delete(f"/v1/jobs/{job}"), 404, "unknown-job")
    assert (await http.get("/v1/jobs")).json()["jobs"] == []


async def test_lifecycle_and_attempts_tell_a_takeover(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    assert (await http.get(f"/v1/jobs/{job}/attempts")).json() == {"attempts": []}
    first = await claimed(store, job)
    await store.append(job, first, 1, lines(1, 4), checkpoint="c1", rounds=4)
    await store.release(job, first, reason="it broke", counted=True, attempts=5, outcome="failed")
    second = await claimed(store, job)
    await write(store, job, second, lines(5, 9), 5)
    running = (await http.get(f"/v1/jobs/{job}/attempts")).json()["attempts"]
    assert [(one["outcome"], one["resumed"]) for one in running] == [
        ("failed", False),
        ("running", True),
    ]
    await finish(store, job, second, outcome="finished")

    page = (await http.get(f"/v1/jobs/{job}/lifecycle")).json()
    kinds = ["submitted", "claimed", "checkpoint", "released", "resumed", "succeeded"]
    assert [event["kind"] for event in page["events"]] == kinds
    assert [event["number"] for event in page["events"]] == [1, 2, 3, 4, 5, 6]
    assert page["last"] == 6
    rest = (await http.get(f"/v1/jobs/{job}/lifecycle?after=4&limit=1")).json()
    assert [event["kind"] for event in rest["events"]] == ["resumed"]
    assert (await http.get(f"/v1/jobs/{job}/lifecycle?after=6")).json() == {"events": [], "last": 6}

    one, two = (await http.get(f"/v1/jobs/{job}/attempts")).json()["attempts"]
    assert (one["reason"], one["first"], one["last"]) == ("it broke", 0, 4)
    assert (two["outcome"], two["first"], two["last"]) == ("finished", 4, 9)
    assert one["ended"] <= two["started"] <= two["ended"]
    assert (one["epoch"], two["epoch"]) == (first, second)


async def test_an_attempt_that_ended_its_job_says_so(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    failed = await submitted(http)
    epoch = await claimed(store, failed)
    how = "child died (signal 9)"
    await store.release(failed, epoch, reason="no memory", counted=True, attempts=1, outcome=how)
    (attempt,) = (await http.get(f"/v1/jobs/{failed}/attempts")).json()["attempts"]
    assert (attempt["outcome"], attempt["reason"]) == (how, "no memory")
    drained = await submitted(http)
    epoch = await claimed(store, drained)
    told: dict[str, Any] = {"reason": "drain", "outcome": "drained"}
    await store.release(drained, epoch, counted=False, attempts=5, **told)
    assert (await store.cancel(drained)).state is State.CANCELED
    (attempt,) = (await http.get(f"/v1/jobs/{drained}/attempts")).json()["attempts"]
    assert attempt["outcome"] == "drained"  # it was canceled in the queue, later


async def test_names_may_be_anything_printable(http: httpx.AsyncClient) -> None:
    name = "Prüfung № 1 🚀 <b>{x}</b>"
    job = await submitted(http, name=name)
    assert (await http.get(f"/v1/jobs/{job}")).json()["name"] == name
