"""Groups: many jobs by one request, seen, stopped early, canceled and deleted together."""

import asyncio
from typing import Any

import httpx
import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.clients import elsewhere
from tests.api.serving import NOBODY, SPEC, Api, claimed, finish, problem
from tests.recording.stories import lose
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio

GRID = {"grid": {"algorithm.steps": [1, 2]}, "seeds": [7, 8, 9]}


async def made(http: httpx.AsyncClient, **asked: Any) -> dict[str, Any]:
    """A new group of six jobs, or of what is asked for."""
    answer = await http.post("/v1/groups", json={"spec": SPEC, "sweep": GRID, **asked})
    assert answer.status_code == 202, answer.text
    told: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/groups/{told['id']}"
    return told


async def children(http: httpx.AsyncClient, group: str) -> list[dict[str, Any]]:
    answer = await http.get(f"/v1/groups/{group}/jobs")
    found: list[dict[str, Any]] = answer.json()["jobs"]
    return found


def told(seq: int, round_: int, gap: float) -> bytes:
    facts = f'"seq":{seq},"kind":"evaluation","time":1.0,"version":{round_}'
    return f'{{{facts},"values":{{"gap":{gap}}}}}'.encode()


async def over(http: httpx.AsyncClient, group: str) -> bool:
    return bool((await http.get(f"/v1/groups/{group}")).json()["done"])


async def test_a_group_has_a_job_for_each_point_in_order(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    group = await made(http, name="mine", priority=4)
    assert group["progress"] == {"finished": 0, "jobs": 6, "rounds": 0, "horizon_rounds": 120}
    assert (group["states"], group["done"], group["ended"]) == ({"queued": 6}, False, "")
    assert (group["spec"], group["sweep"]) == (SPEC, GRID)
    found = await children(http, group["id"])
    assert [child["number"] for child in found] == [1, 2, 3, 4, 5, 6]
    points = [(c["point"]["algorithm.steps"], c["point"]["seed"]) for c in found]
    assert points == [(1, 7), (1, 8), (1, 9), (2, 7), (2, 8), (2, 9)]
    assert found[0]["job"]["name"] == "mine steps=1 seed=7"
    for child, (steps, seed) in zip(found, points, strict=True):
        job = (await http.get(f"/v1/jobs/{child['job']['id']}")).json()
        assert (job["spec"]["algorithm"]["steps"], job["spec"]["seed"]) == (steps, seed)
        assert (job["group"], job["terms"]["priority"]) == (group["id"], 4)
        epoch = await claimed(store, job["id"])  # which is the oldest that waits
        await finish(store, job["id"], epoch)
    await until(lambda: over(http, group["id"]))
    group = (await http.get(f"/v1/groups/{group['id']}")).json()
    assert (group["states"], group["progress"]["finished"]) == ({"succeeded": 6}, 6)


async def test_groups_and_their_jobs_are_listed_in_parts(http: httpx.AsyncClient) -> None:
    ids = [(await made(http, sweep={"seeds": [1]}))["id"] for _ in range(3)][::-1]
    page = (await http.get("/v1/groups?limit=2")).json()
    assert [group["id"] for group in page["groups"]] == ids[:2]
    rest = (await http.get(page["next"])).json()
    assert [group["id"] for group in rest["groups"]] == ids[2:]
    assert (rest["cursor"], rest["next"]) == (None, None)
    large = (await made(http))["id"]
    part = (await http.get(f"/v1/groups/{large}/jobs?limit=4")).json()
    assert (part["last"], part["complete"]) == (4, False)
    rest = (await http.get(f"/v1/groups/{large}/jobs?limit=4&after=4")).json()
    assert ([child["number"] for child in rest["jobs"]], rest["complete"]) == ([5, 6], True)
    problem(await http.get(f"/v1/groups/{NOBODY}"), 404, "unknown-group")
    problem(await http.get("/v1/groups/x"), 404, "unknown-group")


async def test_a_request_that_is_repeated_makes_one_group(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    async def post(**asked: Any) -> httpx.Response:
        sent = {"spec": SPEC, "sweep": GRID, **asked}
        return await http.post("/v1/groups", json=sent, headers={"Idempotency-Key": "k"})

    answers = await asyncio.gather(*(post() for _ in range(5)))
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len((await store.list()).jobs) == 6
    problem(await post(name="other"), 422, "idempotency-key-reused")


async def test_nothing_is_made_when_one_point_cannot_be_run(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    sweep = {"grid": {"algorithm.steps": [1, 0, 2, -1]}}
    told = problem(
        await http.post("/v1/groups", json={"spec": SPEC, "sweep": sweep}), 422, "invalid-spec"
    )
    assert [error["field"] for error in told["errors"]] == ["sweep.points[2]", "sweep.points[4]"]
    assert told["errors"][0]["detail"].startswith("point 2 (steps=0): algorithm.steps: got 0")
    wrong = {"grid": {"algorithm.steps": [*range(1, 102)], "seed": [*range(100)]}}
    told = problem(
        await http.post("/v1/groups", json={"spec": SPEC, "sweep": wrong}), 422, "invalid-request"
    )
    assert "got 10100 points, wanted at most 10000" in told["detail"]
    assert (await store.list()).jobs == []
    assert (await http.get("/v1/groups")).json()["groups"] == []


async def test_a_group_is_canceled_and_deleted(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    group = (await made(http))["id"]
    first = (await children(http, group))[0]["job"]["id"]
    epoch = await claimed(store, first)
    problem(await http.delete(f"/v1/groups/{group}"), 409, "conflict")
    answer = await http.post(f"/v1/groups/{group}/cancel")
    assert (answer.status_code, answer.json()["ended"]) == (202, "its group was canceled")

    async def asked() -> bool:
        return await store.heartbeat(first, epoch, 60.0) == "cancel"

    await until(asked)
    await store.finish(first, epoch, State.CANCELED)
    await until(lambda: over(http, group))
    found = await children(http, group)
    assert {child["job"]["state"] for child in found} == {"canceled"}
    assert {child["job"]["reason"] for child in found} == {"its group was canceled"}
    problem(await http.post(f"/v1/groups/{group}/cancel"), 409, "conflict")
    assert (await http.delete(f"/v1/groups/{group}")).status_code == 204
    problem(await http.get(f"/v1/groups/{group}"), 404, "unknown-group")
    assert (await http.get("/v1/jobs")).json()["jobs"] == []


async def test_a_group_that_is_lost_with_the_job_store_is_canceled_all_the_same(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    group = (await made(http))["id"]
    await lose(store)
    await http.post(f"/v1/groups/{group}/cancel")
    await until(lambda: over(http, group))


async def test_a_job_that_is_worse_than_the_others_is_stopped_once_and_told_why(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    stop = {"kind": "median", "metric": "gap", "grace": 5, "others": 2}
    group = (await made(http, stop=stop, sweep={"seeds": [1, 2, 3]}))["id"]
    jobs = [child["job"]["id"] for child in await children(http, group)]
    for gap, job in zip((0.1, 0.2, 8.0), jobs, strict=True):
        epoch = await claimed(store, job)
        records = [told(1, 5, 9.0), told(2, 10, gap)]
        await store.append(job, epoch, 1, records, rounds=10)

    async def asked() -> bool:
        return await store.heartbeat(jobs[2], epoch, 60.0) == "cancel"

    await until(asked)
    why = "its best gap by round 10, 8, is worse than 4.575, the median of 2 others"
    assert (await store.get(jobs[2])).reason == why
    await api.stop()  # another one takes over, and gives no verdict twice
    await api.start()
    await store.finish(jobs[2], epoch, State.CANCELED)
    for job in jobs[:2]:
        await finish(store, job, 1)
    await until(lambda: over(http, group))
    found = await children(http, group)
    assert [child["job"]["state"] for child in found] == ["succeeded", "succeeded", "canceled"]
    assert [child["stopped"] for child in found] == ["", "", why]
    assert found[2]["job"]["reason"] == why


async def test_once_a_target_is_reached_the_others_stop(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    stop = {"kind": "target", "metric": "gap", "value": 0.5}
    group = (await made(http, stop=stop, sweep={"seeds": [1, 2, 3]}))["id"]
    first, second, _ = [child["job"]["id"] for child in await children(http, group)]
    epoch = await claimed(store, first)
    other = await claimed(store, second)
    await store.append(first, epoch, 1, [told(1, 10, 0.4)], rounds=10)

    async def asked() -> bool:
        return await store.heartbeat(second, other, 60.0) == "cancel"

    await until(asked)
    await store.finish(second, other, State.CANCELED)
    assert await store.heartbeat(first, epoch, 60.0) == "ok"  # it goes on to its end
    await finish(store, first, epoch)
    await until(lambda: over(http, group))
    found = await children(http, group)
    assert [child["job"]["state"] for child in found] == ["succeeded", "canceled", "canceled"]
    why = "job 1 of the group reached gap 0.4 at round 10"
    assert [child["job"]["reason"] for child in found] == ["", why, why]
    assert (await http.get(f"/v1/groups/{group}")).json()["ended"] == why


async def test_clients_sweep(api: Api, http: httpx.AsyncClient) -> None:
    group = await elsewhere(api, lambda c: c.sweep(SPEC, GRID, name="x"))
    assert (group.name, group.progress.jobs) == ("x", 6)
    assert (await elsewhere(api, lambda c: c.groups())).groups[0].id == group.id
    page = await elsewhere(api, lambda c: c.group_jobs(group.id, after=4))
    assert [child.number for child in page.jobs] == [5, 6]
    assert (await elsewhere(api, lambda c: c.cancel_group(group.id))).ended
    await until(lambda: over(http, group.id))
    await elsewhere(api, lambda c: c.delete_group(group.id))


async def test_a_group_is_queued_as_a_whole_or_refused(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    api.service.store.depth.limit = 11
    key = {"Idempotency-Key": "k"}
    asked = {"spec": SPEC, "sweep": GRID}
    kept = await http.post("/v1/groups", json=asked, headers=key)
    full = await http.post("/v1/groups", json=asked)
    assert "--queue-limit" in problem(full, 503, "queue-full")["detail"]
    again = await http.post("/v1/groups", json=asked, headers=key)
    assert (again.status_code, again.json()["id"]) == (202, kept.json()["id"])
    api.service.store.depth.limit = 12
    odd = await http.post("/v1/groups", json={**asked, "after": [NOBODY]})
    assert odd.status_code == 422
    assert NOBODY in odd.text
    assert [group["id"] for group in (await http.get("/v1/groups")).json()["groups"]] == [
        kept.json()["id"]
    ]
    assert len((await store.list()).jobs) == len((await api.archive.list()).jobs) == 6
    await made(http)
