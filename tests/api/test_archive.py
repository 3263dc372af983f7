"""What the API owes to its archive: jobs are taken without a job store, and kept beyond it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio

from driftfold_api.archive import wishing
from driftfold_api.archive.base import Wish
from driftfold_api.archive.pausing import PAUSED_LATER, RESUMED_LATER
from driftfold_api.archived_store import LATER
from driftfold_api.recording.reconciler import grant_there
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict
from driftfold_workers.jobs.usage import Usage
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.window.window import RedisWindow
from tests.api.serving import SPEC, Api, api_on, claimed, finish, lines, submitted, write
from tests.recording.stories import lose
from tests.workers import servers
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    """A server for one test, which may kill it."""
    with servers.running() as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[RedisJobStore]:
    async with servers.store_on(server, patience=0.2) as store:
        store.window = RedisWindow(store._link, margin=3, keep=0.0)
        yield store


@pytest_asyncio.fixture
async def api(store: RedisJobStore) -> AsyncIterator[Api]:
    async with api_on(store) as api:
        yield api


async def over(api: Api, job: str) -> bool:
    return (await api.archive.get(job)).state.final


async def run(http: httpx.AsyncClient, store: RedisJobStore, api: Api) -> str:
    """A job of 20 records that has succeeded, and that the job store has forgotten."""
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 20), 1)
    await finish(store, job, epoch)
    await until(lambda: forgotten(store, job))
    return job


async def forgotten(store: RedisJobStore, job: str) -> bool:
    return bool(await store.window.unknown([job]))


async def there(store: RedisJobStore, job: str) -> bool:
    return not await forgotten(store, job)


async def test_what_a_job_has_used_up_is_told_with_and_without_the_job_store(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, server: EmbeddedServer
) -> None:
    job = await submitted(http)
    assert (await http.get(f"/v1/jobs/{job}")).json()["used"] == {
        "cpu_seconds": 0.0,
        "wall_seconds": 0.0,
    }
    epoch = await claimed(store, job)
    await store.heartbeat(job, epoch, 30.0, Usage(5.5, 6.25))
    told = {"cpu_seconds": 5.5, "wall_seconds": 6.25}
    assert (await http.get(f"/v1/jobs/{job}")).json()["used"] == told

    async def is_recorded() -> bool:
        return (await api.archive.get(job)).used == Usage(5.5, 6.25)

    await until(is_recorded)
    os.kill(server.pid, signal.SIGKILL)
    assert (await http.get(f"/v1/jobs/{job}")).json()["used"] == told


async def test_a_job_that_the_job_store_has_forgotten_is_told_as_before(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await run(http, store, api)
    queued = await submitted(http)
    told = (await http.get(f"/v1/jobs/{job}")).json()
    assert (told["state"], told["progress"]["seq"], told["attempt"]) == ("succeeded", 20, 1)
    page = (await http.get(f"/v1/jobs/{job}/records?after=5&limit=4")).json()
    assert [record["seq"] for record in page["records"]] == [6, 7, 8, 9]
    assert (page["last"], page["complete"]) == (9, False)
    assert (await http.get(f"/v1/jobs/{job}/records?after=9")).json()["complete"]
    kinds = [
        each["kind"] for each in (await http.get(f"/v1/jobs/{job}/lifecycle")).json()["events"]
    ]
    assert kinds == ["submitted", "claimed", "succeeded"]
    assert (await http.get(f"/v1/jobs/{job}/attempts")).json()["attempts"][0]["worker"] == "anne"
    assert (await http.get(f"/v1/jobs/{job}/result")).json() == {"rounds": 20}
    stream = (await http.get(f"/v1/jobs/{job}/events?after=17")).text
    assert [line for line in stream.splitlines() if line.startswith("id: ")] == [
        "id: 18", "id: 19", "id: 20",
    ]  # fmt: skip
    assert "event: end" in stream
    for query, wanted in (("", [queued, job]), ("?state=succeeded", [job]), ("?limit=1", [queued])):
        page = (await http.get(f"/v1/jobs{query}")).json()
        assert [each["id"] for each in page["jobs"]] == wanted
    following = (await http.get(page["next"])).json()
    assert [each["id"] for each in following["jobs"]] == [job]
    assert following["next"] is None
    assert (await http.post(f"/v1/jobs/{job}/cancel")).status_code == 409
    assert (await http.delete(f"/v1/jobs/{job}")).status_code == 204
    assert (await http.get(f"/v1/jobs/{job}")).status_code == 404


async def test_a_log_that_is_trimmed_is_told_whole_to_all_who_follow(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 20), 1)

    async def trimmed() -> bool:
        records = store.keys.records(job)
        return bool(await store._link.call(lambda redis: redis.xlen(records)) == 3)

    await until(trimmed)
    page = (await http.get(f"/v1/jobs/{job}/records")).json()
    assert [record["seq"] for record in page["records"]] == [*range(1, 21)]
    following = asyncio.create_task(http.get(f"/v1/jobs/{job}/events"))
    await write(store, job, epoch, lines(21, 25), 21)
    await finish(store, job, epoch)
    ids = [line for line in (await following).text.splitlines() if line.startswith("id: ")]
    assert ids == [f"id: {number}" for number in range(1, 26)]


async def test_without_its_job_store_jobs_are_accepted_and_run_later(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, server: EmbeddedServer
) -> None:
    done = await run(http, store, api)
    os.kill(server.pid, signal.SIGKILL)
    headers = {"Idempotency-Key": "k"}
    answers = [await http.post("/v1/jobs", json={"spec": SPEC}, headers=headers) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {202}
    (job,) = {answer.json()["id"] for answer in answers}
    assert answers[0].json()["reason"] == LATER
    told = (await http.get(f"/v1/jobs/{job}")).json()
    assert (told["state"], told["reason"]) == ("queued", LATER)
    assert [each["id"] for each in (await http.get("/v1/jobs")).json()["jobs"]] == [job, done]
    page = (await http.get(f"/v1/jobs/{done}/records")).json()
    assert (page["last"], page["complete"]) == (20, True)
    assert "event: end" in (await http.get(f"/v1/jobs/{done}/events")).text
    await api.stop()  # and it is started again meanwhile
    await api.start()
    await asyncio.to_thread(server.restart)
    await until(lambda: there(store, job))
    epoch = await claimed(store, job)
    await finish(store, job, epoch)
    await until(lambda: over(api, job))


async def test_what_is_wished_without_the_job_store_happens_when_it_is_back(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, server: EmbeddedServer
) -> None:
    done, running, queued = (
        await run(http, store, api),
        await submitted(http),
        await submitted(http),
    )
    epoch = await claimed(store, running)

    async def recorded() -> bool:
        return (await api.archive.get(running)).state is State.RUNNING

    await until(recorded)
    os.kill(server.pid, signal.SIGKILL)
    never = await submitted(http)
    for job, state in ((running, "canceling"), (queued, "canceling"), (never, "canceled")):
        answer = await http.post(f"/v1/jobs/{job}/cancel")
        assert (answer.status_code, answer.json()["state"]) == (202, state)
        assert (await http.get(f"/v1/jobs/{job}")).json()["state"] == state
        assert (answer.json()["reason"] == wishing.LATER) is (state == "canceling")
    assert "event: end" in (await http.get(f"/v1/jobs/{never}/events")).text
    assert (await http.post(f"/v1/jobs/{done}/cancel")).status_code == 409
    assert (await http.delete(f"/v1/jobs/{queued}")).status_code == 409
    assert (await http.delete(f"/v1/jobs/{done}")).status_code == 202
    assert (await http.get(f"/v1/jobs/{done}")).status_code == 404
    await asyncio.to_thread(server.restart)

    async def canceling() -> bool:
        return (await store.get(running)).state is State.CANCELING

    async def all_granted() -> bool:
        return not await api.archive.wishes()

    await until(canceling)
    await until(all_granted)
    assert (await http.get(f"/v1/jobs/{done}")).status_code == 404
    for job in (queued, never):
        assert (await http.get(f"/v1/jobs/{job}")).json()["state"] == "canceled"
    await store.finish(running, epoch, State.CANCELED)
    await until(lambda: over(api, running))


async def test_jobs_are_paused_and_resumed_without_the_job_store(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, server: EmbeddedServer
) -> None:
    running, queued, paused = [await submitted(http) for _ in range(3)]
    epoch = await claimed(store, running)
    await http.post(f"/v1/jobs/{paused}/pause")

    async def recorded() -> bool:
        states = await api.archive.states([running, paused])
        return states == {running: State.RUNNING, paused: State.PAUSED}

    await until(recorded)
    os.kill(server.pid, signal.SIGKILL)
    never = await submitted(http)
    for job, state, pausing, reason in (
        (running, "running", True, PAUSED_LATER),
        (queued, "queued", True, PAUSED_LATER),
        (never, "paused", False, ""),
    ):
        answer = await http.post(f"/v1/jobs/{job}/pause")
        for told in (answer.json(), (await http.get(f"/v1/jobs/{job}")).json()):
            assert (told["state"], told["pausing"], told["reason"]) == (state, pausing, reason)
        assert answer.status_code == 202
    answer = await http.post(f"/v1/jobs/{paused}/resume")
    told = answer.json()
    assert (answer.status_code, told["state"], told["reason"]) == (202, "paused", RESUMED_LATER)
    assert (await http.post(f"/v1/jobs/{never}/resume")).json()["state"] == "queued"
    answer = await http.post(f"/v1/jobs/{never}/resume")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/conflict")
    assert (await http.post(f"/v1/jobs/{never}/pause")).json()["state"] == "paused"
    await asyncio.to_thread(server.restart)

    async def granted() -> bool:
        return not await api.archive.wishes() and await there(store, never)

    await until(granted)
    states = {job: (await store.get(job)).state for job in (queued, paused, never)}
    assert states == {queued: State.PAUSED, paused: State.QUEUED, never: State.PAUSED}
    assert await store.heartbeat(running, epoch, 30.0) == "pause"
    assert (await http.post(f"/v1/jobs/{never}/resume")).json()["state"] == "queued"


async def test_the_last_wish_counts_also_when_the_job_store_is_back(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    await api.archive.pause(job)  # as by another process, which does not reach the job store
    told = (await http.post(f"/v1/jobs/{job}/resume")).json()
    assert (told["state"], told["pausing"]) == ("queued", False)

    async def granted() -> bool:
        return await api.archive.wish(job) is None

    await until(granted)
    assert (await store.get(job)).state is State.QUEUED
    await http.post(f"/v1/jobs/{job}/pause")
    assert (await store.get(job)).state is State.PAUSED


async def test_a_wish_that_is_granted_as_it_is_taken_back(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then what is recorded is old: the job is paused, and the archive has yet to learn of it."""
    job = await submitted(http)
    await until(lambda: there(store, job))
    await api.archive.pause(job)

    async def late(job: str) -> Job:
        await grant_there(store, api.archive, job, Wish.PAUSE)
        raise Conflict(f"job {job} is queued, as far as is recorded")

    monkeypatch.setattr(api.archive, "resume", late)
    answer = await http.post(f"/v1/jobs/{job}/resume")
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    answer = await http.post(f"/v1/jobs/{job}/resume")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/conflict")


async def test_accepted_jobs_outlive_the_job_store_and_its_disk(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    await lose(store)
    assert (await http.get(f"/v1/jobs/{job}")).json()["state"] == "queued"
    await until(lambda: there(store, job))
    await claimed(store, job)


async def test_a_job_that_is_lost_with_the_job_store_can_be_canceled_at_once(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    await lose(store)
    assert (await http.post(f"/v1/jobs/{job}/cancel")).json()["state"] == "canceled"


async def test_a_paused_job_that_is_lost_with_the_job_store_stays_paused(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    await http.post(f"/v1/jobs/{job}/pause")

    async def recorded() -> bool:
        return (await api.archive.get(job)).state is State.PAUSED

    await until(recorded)
    await lose(store)
    assert (await http.get(f"/v1/jobs/{job}")).json()["state"] == "paused"
    await until(lambda: there(store, job))
    assert (await store.get(job)).state is State.PAUSED
    await lose(store)  # and one that the job store does not know is resumed at once
    assert (await http.post(f"/v1/jobs/{job}/resume")).json()["state"] == "queued"
    await claimed(store, job)


async def test_a_failed_job_is_no_answer_to_a_repeated_request(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    async def post() -> str:
        sent = {"spec": SPEC}
        answer = await http.post("/v1/jobs", json=sent, headers={"Idempotency-Key": "k"})
        return str(answer.json()["id"])

    first = await post()
    assert await post() == first
    epoch = await claimed(store, first)
    await store.finish(first, epoch, State.FAILED, reason="no")
    (second,) = set(await asyncio.gather(*(post() for _ in range(10))))  # recorded yet, or not
    assert second != first
    assert await post() == second
    await until(lambda: over(api, first))
    assert await post() == second
    other = {"spec": {**SPEC, "seed": 1}}
    answer = await http.post("/v1/jobs", json=other, headers={"Idempotency-Key": "k"})
    assert answer.status_code == 422


async def test_a_restarted_api_keeps_its_promises(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    headers = {"Idempotency-Key": "k"}
    first = (await http.post("/v1/jobs", json={"spec": SPEC}, headers=headers)).json()["id"]
    await api.stop()
    epoch = await claimed(store, first)
    await write(store, first, epoch, lines(1, 5), 1)
    await api.start()
    again = (await http.post("/v1/jobs", json={"spec": SPEC}, headers=headers)).json()["id"]
    assert again == first
    await finish(store, first, epoch)
    await until(lambda: over(api, first))
    assert len(await api.archive.read(first)) == 5
