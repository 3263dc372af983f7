"""The queue as the API tells it: places, room for more, jobs that wait for others."""

import asyncio

import httpx
import pytest

from driftfold_api.archive.base import Wanted
from driftfold_api.archived_store import ArchivedStore
from driftfold_api.reach import Reach
from driftfold_api.recording.reconciler import Reconciler
from driftfold_workers.jobs.store import StoreUnreachable
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import NOBODY, SPEC, Api, claimed, finish, problem
from tests.workers.jobs import KINDS, until

pytestmark = pytest.mark.asyncio


async def post(http: httpx.AsyncClient, **more: object) -> httpx.Response:
    return await http.post("/v1/jobs", json={"spec": SPEC, **more})


async def test_a_place_in_the_queue(http: httpx.AsyncClient) -> None:
    usual, urgent = (await post(http)).json(), (await post(http, priority=1)).json()
    later = (await post(http, delay_seconds=3600)).json()
    places = []
    for job in (urgent, usual, later):
        told = (await http.get(job["links"]["self"])).json()
        places.append((told["position"], told["state"]))
    assert places == [(1, "queued"), (2, "queued"), (None, "queued")]
    assert (later["due"], later["reason"][:11]) == (later["terms"]["not_before"], "it may run ")


async def test_no_more_jobs_are_queued_than_may_be(
    http: httpx.AsyncClient, api: Api, store: RedisJobStore
) -> None:
    api.service.store.depth.limit = 2
    kept = await http.post("/v1/jobs", json={"spec": SPEC}, headers={"Idempotency-Key": "k"})
    assert kept.status_code == 202
    answers = await asyncio.gather(*(post(http) for _ in range(10)))
    full = [answer for answer in answers if answer.status_code != 202]
    assert len(full) == 9
    for answer in full:
        told = problem(answer, 503, "queue-full")
        assert "--queue-limit" in told["detail"]
        assert int(answer.headers["retry-after"]) >= 1
    # Nothing of them is left, and what was accepted is told of.
    assert len((await api.archive.list()).jobs) == len((await store.list()).jobs) == 2
    again = await http.post("/v1/jobs", json={"spec": SPEC}, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.json()["id"]) == (202, kept.json()["id"])
    await claimed(store, kept.json()["id"])
    assert (await post(http)).status_code == 202


async def test_what_was_accepted_is_queued_however_full_it_is(
    api: Api, store: RedisJobStore
) -> None:
    api.service.store.depth.limit = 1
    jobs = [(await api.archive.accept(Wanted(SPEC, KINDS)))[0].id for _ in range(3)]
    assert set(await Reconciler(store, api.archive, grace=0.0).step()) == set(jobs)


async def test_a_job_waits_for_another(http: httpx.AsyncClient, store: RedisJobStore) -> None:
    first = (await post(http)).json()
    job = (await post(http, after=[first["id"]])).json()
    assert (job["state"], job["reason"]) == ("queued", f"waits for job {first['id']}")
    await finish(store, first["id"], await claimed(store, first["id"]))

    async def let_go() -> bool:
        position: int | None = (await http.get(job["links"]["self"])).json()["position"]
        return position == 1

    await until(let_go)


async def test_a_job_cannot_wait_for_one_that_is_not_there(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    told = problem(await post(http, after=[NOBODY]), 422, "invalid-request")
    assert [error["field"] for error in told["errors"]] == ["body.after"]
    assert NOBODY in told["detail"]
    assert (await store.list()).jobs == []


async def test_without_the_job_store_the_archive_counts(api: Api) -> None:
    reach = Reach(again=1e9)
    kept = ArchivedStore(api.service.queue, api.archive, reach, queue_limit=1)
    with pytest.raises(StoreUnreachable):
        await reach.ask(nobody)
    async with kept.depth.room() as room:
        assert room
    await api.archive.accept(Wanted(SPEC, KINDS))
    async with kept.depth.room() as room:
        assert not room


async def nobody() -> None:
    raise StoreUnreachable("nobody is there")
