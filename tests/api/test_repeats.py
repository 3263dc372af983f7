"""Jobs that are tried again, copied with changes, and replayed when they are dead."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.clients import elsewhere
from tests.api.serving import NOBODY, Api, claimed, finish, lines, problem, submitted, write
from tests.workers.experiments import Behaviour, experiment
from tests.workers.jobs import until
from tests.workers.stories import assert_undisturbed, ended, recorded
from tests.workers.supervisors import working

pytestmark = pytest.mark.asyncio


async def died(http: httpx.AsyncClient, store: RedisJobStore, **fields: Any) -> str:
    """A job with six records whose only attempt ended badly."""
    job = await submitted(http, **fields)
    epoch = await claimed(store, job)
    await store.append(job, epoch, 1, lines(1, 4), checkpoint=f"{job}.1:a", rounds=4)
    await write(store, job, epoch, lines(5, 6), 5)
    await store.release(job, epoch, reason="died", counted=True, attempts=1)
    return job


async def test_a_retry_goes_on_from_what_there_is(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    first = await died(http, store, name="mine", priority=7)
    answer = await http.post(f"/v1/jobs/{first}/retry", headers={"Idempotency-Key": "k"})
    assert answer.status_code == 202, answer.text
    told = answer.json()
    assert (told["state"], told["name"], told["progress"]["seq"]) == ("queued", "mine", 6)
    assert told["origin"] == {"job": first, "how": "retry", "records": 6}
    assert told["terms"]["priority"] == 7
    assert answer.headers["location"] == f"/v1/jobs/{told['id']}"
    again = await http.post(f"/v1/jobs/{first}/retry", headers={"Idempotency-Key": "k"})
    assert again.json()["id"] == told["id"]
    anew = {"from": "start"}
    reused = await http.post(f"/v1/jobs/{first}/retry", json=anew, headers={"Idempotency-Key": "k"})
    problem(reused, 422, "idempotency-key-reused")
    assert (await http.get(f"/v1/jobs/{first}")).json()["retried_by"] == told["id"]
    epoch = await claimed(store, told["id"])
    assert (await store.get(told["id"])).checkpoint == f"{first}.1:a"
    assert await store.append(told["id"], epoch, 5, lines(5, 8), rounds=8) == 8
    await finish(store, told["id"], epoch)
    first_part = (await http.get(f"/v1/jobs/{told['id']}/records?limit=6")).json()
    rest = (await http.get(f"/v1/jobs/{told['id']}/records?after=6")).json()
    both = [*first_part["records"], *rest["records"]]
    assert [record["seq"] for record in both] == [*range(1, 9)]
    stream = (await http.get(f"/v1/jobs/{told['id']}/events")).text
    ids = [line for line in stream.splitlines() if line.startswith("id: ")]
    assert ids == [f"id: {number}" for number in range(1, 9)]
    kinds = (await http.get(f"/v1/jobs/{told['id']}/lifecycle")).json()["events"]
    assert [event["kind"] for event in kinds] == ["submitted", "resumed", "succeeded"]


async def test_a_retry_from_the_start_has_nothing_yet(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    first = await died(http, store)
    told = (await http.post(f"/v1/jobs/{first}/retry", json={"from": "start"})).json()
    assert (told["progress"]["seq"], told["checkpoint"]) == (0, None)
    assert told["origin"] == {"job": first, "how": "retry", "records": None}


async def test_what_cannot_be_retried(http: httpx.AsyncClient, store: RedisJobStore) -> None:
    job = await submitted(http)
    told = problem(await http.post(f"/v1/jobs/{job}/retry"), 409, "conflict")
    assert "is queued; only one that has failed or was canceled" in told["detail"]
    epoch = await claimed(store, job)
    await finish(store, job, epoch)
    told = problem(await http.post(f"/v1/jobs/{job}/retry"), 409, "conflict")
    assert "has succeeded" in told["detail"]
    problem(await http.post(f"/v1/jobs/{NOBODY}/retry"), 404, "unknown-job")
    wrong = await http.post(f"/v1/jobs/{job}/retry", json={"from": "middle"})
    problem(wrong, 422, "invalid-request")


async def test_a_clone_is_a_job_of_its_own_with_changes(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    first = await submitted(http, name="mine", priority=3, delay_seconds=3600)
    plain = (await http.post(f"/v1/jobs/{first}/clone")).json()
    source = (await http.get(f"/v1/jobs/{first}")).json()
    assert plain["spec"] == source["spec"]
    assert (plain["name"], plain["terms"]["priority"]) == ("mine", 3)
    assert plain["terms"]["not_before"] is None
    assert plain["origin"] == {"job": first, "how": "clone", "records": None}
    assert source["retried_by"] == ""
    changes = {"spec": {"seed": 9, "horizon": {"rounds": 3}}, "name": "other", "attempts": 2}
    headers = {"Idempotency-Key": "k"}
    changed, again = [
        (await http.post(f"/v1/jobs/{first}/clone", json=changes, headers=headers)).json()
        for _ in range(2)
    ]
    assert changed["id"] == again["id"]
    assert changed["spec"] == {
        **source["spec"], "seed": 9, "horizon": {**source["spec"]["horizon"], "rounds": 3},
    }  # fmt: skip
    assert (changed["name"], changed["progress"]["horizon_rounds"]) == ("other", 3)
    assert (changed["terms"]["priority"], changed["terms"]["attempts"]) == (3, 2)
    wrong = await http.post(f"/v1/jobs/{first}/clone", json={"spec": {"seed": -1}})
    assert problem(wrong, 422, "invalid-spec")["errors"][0]["field"] == "spec.seed"


async def test_the_dead_are_listed_and_replayed_once(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    dead = [await died(http, store) for _ in range(3)][::-1]
    canceled = await submitted(http)
    await http.post(f"/v1/jobs/{canceled}/cancel")
    listed = (await http.get("/v1/jobs", params={"dead": True})).json()["jobs"]
    assert [job["id"] for job in listed] == dead
    assert all(job["dead"] for job in listed)
    wanted = {"jobs": [dead[0], canceled, NOBODY]}
    told = (await http.post("/v1/jobs/replay", json=wanted)).json()
    assert [each["job"] for each in told["replayed"]] == [dead[0]]
    assert [each["job"] for each in told["refused"]] == [canceled, NOBODY]
    assert "not dead" in told["refused"][0]["detail"]
    assert (await http.post("/v1/jobs/replay", json=wanted)).json() == told

    async def all_of_them() -> dict[str, Any]:
        sent = {"before": "2999-01-01T00:00:00Z"}
        answer = (await http.post("/v1/jobs/replay", json=sent)).json()
        return {each["job"]: each["by"] for each in answer["replayed"]}

    twice = await asyncio.gather(all_of_them(), all_of_them())
    new = {**twice[0], **twice[1]}
    assert set(new) == set(dead[1:])
    assert await all_of_them() == {}
    queued = (await http.get("/v1/jobs", params={"state": "queued"})).json()["jobs"]
    assert {job["id"] for job in queued} == {told["replayed"][0]["by"], *new.values()}
    for job, by in new.items():
        assert (await http.get(f"/v1/jobs/{job}")).json()["retried_by"] == by
    problem(await http.post("/v1/jobs/replay", json={}), 422, "invalid-request")


async def test_clients_retry_clone_and_replay(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await died(http, store)
    assert [each.id for each in await elsewhere(api, lambda c: list(c.list(dead=True)))] == [job]
    (replayed,) = (await elsewhere(api, lambda c: c.replay([job]))).replayed
    assert replayed.job == job
    retried = await elsewhere(api, lambda c: c.retry(job, start="start"))
    assert retried.origin is not None
    assert (retried.origin.job, retried.progress.seq) == (job, 0)
    copy = await elsewhere(api, lambda c: c.clone(job, {"seed": 8}, name="x", priority=2))
    assert (copy.spec["seed"], copy.name, copy.terms.priority) == (8, "x", 2)


async def test_a_canceled_job_that_is_retried_ends_bit_for_bit_like_an_undisturbed_one(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, behaviour: Behaviour, tmp_path: Path
) -> None:
    behaviour.set(pause=0.02)
    spec = experiment(checkpoint_every=5)
    first = (await http.post("/v1/jobs", json={"spec": spec})).json()["id"]
    async with working(store, tmp_path):
        await recorded(store, first, 20)
        await http.post(f"/v1/jobs/{first}/cancel")
        canceled = await ended(store, first)
        assert canceled.state is State.CANCELED
        behaviour.set()
        answer = await http.post(f"/v1/jobs/{first}/retry")
        second = answer.json()
        assert second["progress"]["seq"] == canceled.seq >= 20
        await ended(store, second["id"])
    job = await store.get(second["id"])

    async def is_recorded() -> bool:
        return (await api.archive.get(job.id)).state.final

    await until(is_recorded)
    (claim, *_) = [event for event in await store.events(job.id) if event.kind == "resumed"]
    assert claim.facts["seq"] == canceled.seq
    # Its records before are in the archive; Redis has what came after.
    whole = await api.archive.read(job.id, limit=100_000)
    await assert_undisturbed(store, job, whole)
    # The last snapshot of the first one stays until that is deleted.
    assert len(list((tmp_path / first).rglob("checkpoints/*/*.npz"))) == 1
