"""The Python clients: every call, errors, and watching without loss."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from driftfold.spec import catalogue, load_spec, to_mapping
from driftfold.telemetry.base import Record
from driftfold_api.client import AsyncClient, Client
from driftfold_api.errors import Refused, ServiceError
from driftfold_api.models import End, Lifecycle
from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.clients import elsewhere
from tests.api.serving import NOBODY, SPEC, Api, claimed, finish, lines, write
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def client(api: Api) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(api.url, patience=20.0) as client:
        yield client


def names(events: list[Any]) -> list[str]:
    told = []
    for event in events:
        match event:
            case Record():
                told.append(str(event.seq))
            case Lifecycle():
                told.append(event.kind)
            case End():
                told.append("end")
    return told


async def test_a_job_from_submission_to_deletion(
    client: AsyncClient, store: RedisJobStore, tmp_path: Path
) -> None:
    job = await client.submit(SPEC, name="mine")
    assert (job.state, job.name, job.progress.horizon_rounds) == (State.QUEUED, "mine", 20)
    known = await client.get(job.id)  # which says, too, that nobody is there to run it, and where
    assert known == job.model_copy(update={"reason": known.reason, "position": 1})
    assert [one.id async for one in client.list()] == [job.id]
    assert (await client.page(limit=1, state=State.RUNNING)).jobs == []
    epoch = await claimed(store, job.id)
    await write(store, job.id, epoch, lines(1, 3), 1)
    log = await client.records(job.id, after=1, wait=5.0)
    assert [record.seq for record in log.records] == [2, 3]
    assert log.records[0].values["loss"] != log.records[0].values["loss"]  # "NaN" is a number again
    assert (log.last, log.state, log.complete) == (3, State.RUNNING, False)
    assert [event.kind for event in await client.lifecycle(job.id)] == ["submitted", "claimed"]
    assert [one.outcome for one in await client.attempts(job.id)] == ["running"]
    await finish(store, job.id, epoch, result={"rounds": 3})
    assert (await client.wait(job.id)).state is State.SUCCEEDED
    assert await client.result(job.id) == {"rounds": 3}
    (tmp_path / job.id).mkdir()
    (tmp_path / job.id / "my model.npz").write_bytes(b"\0\1")
    (file,) = await client.artefacts(job.id)
    assert await client.artefact(job.id, file.name) == b"\0\1"
    await client.delete(job.id)
    with pytest.raises(Refused, match="no job has the id") as caught:
        await client.get(job.id)
    assert (caught.value.status, caught.value.type) == (404, "/problems/unknown-job")


async def test_both_clients_can_do_the_same(api: Api, client: AsyncClient) -> None:
    public = {name for name in vars(Client) if not name.startswith("_")} - {"close"}
    assert {name for name in vars(AsyncClient) if not name.startswith("_")} == public | {"aclose"}
    assert await client.catalogue() == catalogue()
    assert await elsewhere(api, Client.catalogue) == catalogue()
    shipped = [preset.name for preset in await client.presets()]
    assert shipped == [preset.name for preset in await elsewhere(api, Client.presets)]
    assert "pca-synthetic" in shipped
    assert await client.workers() == await elsewhere(api, Client.workers) == []


async def test_whatever_names_an_experiment_can_be_submitted(
    api: Api, client: AsyncClient, tmp_path: Path
) -> None:
    spec = load_spec("pca-synthetic")
    file = tmp_path / "mine.toml"
    file.write_text('extends = "pca-synthetic"')
    for form in (spec, to_mapping(spec), "pca-synthetic", file, str(file)):
        job = await client.submit(form)
        assert job.spec == to_mapping(spec)
        assert (await elsewhere(api, lambda one: one.submit(form))).spec == job.spec  # noqa: B023


async def test_the_blocking_client_lives_through_a_job(api: Api, store: RedisJobStore) -> None:
    job = await elsewhere(api, lambda client: client.submit(SPEC))
    watching = asyncio.create_task(elsewhere(api, lambda client: list(client.watch(job.id))))
    epoch = await claimed(store, job.id)
    await write(store, job.id, epoch, lines(1, 30), 1)
    await finish(store, job.id, epoch)
    wanted = ["submitted", "claimed", *map(str, range(1, 31)), "succeeded", "end"]
    assert names(await watching) == wanted
    for use in (
        lambda client: [one.id for one in client.list()],
        lambda client: [client.get(job.id).id],
        lambda client: [client.wait(job.id).id],
    ):
        assert await elsewhere(api, use) == [job.id]
    assert len((await elsewhere(api, lambda client: client.records(job.id))).records) == 30
    assert await elsewhere(api, lambda client: client.result(job.id)) == {"rounds": 20}
    assert len(await elsewhere(api, lambda client: client.lifecycle(job.id, after=1))) == 2
    assert len(await elsewhere(api, lambda client: client.attempts(job.id))) == 1
    assert await elsewhere(api, lambda client: client.artefacts(job.id)) == []
    with pytest.raises(Refused, match="no artefact 'x'"):
        await elsewhere(api, lambda client: client.artefact(job.id, "x"))
    with pytest.raises(Refused, match="succeeded"):
        await elsewhere(api, lambda client: client.cancel(job.id))
    await elsewhere(api, lambda client: client.delete(job.id))
    with pytest.raises(Refused, match="no job"):
        await elsewhere(api, lambda client: list(client.watch(job.id)))


async def test_a_refusal_tells_every_problem(client: AsyncClient) -> None:
    with pytest.raises(Refused) as caught:
        await client.submit({**SPEC, "seed": -1, "evaluate_every": 0})
    assert caught.value.status == 422
    assert [entry["field"] for entry in caught.value.errors] == ["spec.seed", "spec.evaluate_every"]
    assert len(str(caught.value).splitlines()) == 2
    for job in (NOBODY, "../jobs", "a b", "?x", ""):
        with pytest.raises(Refused, match=r"^no job has the id"):
            await client.get(job)


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_watch_goes_on_over_restarts_and_loses_nothing(
    api: Api, store: RedisJobStore, blocking: bool
) -> None:
    """The server stops and starts at the same address while records are written."""
    async with AsyncClient(api.url, patience=20.0) as client:
        job = await client.submit(SPEC)
        epoch = await claimed(store, job.id)
        seen: list[Any] = []

        def follow(client: Client) -> None:
            seen.extend(client.watch(job.id))

        async def follow_async() -> None:
            async for event in client.watch(job.id):
                seen.append(event)

        watching = asyncio.create_task(elsewhere(api, follow) if blocking else follow_async())
        written = 0
        for _ in range(3):
            await write(store, job.id, epoch, lines(written + 1, written + 400), written + 1)
            written += 400
            await until(_follows(api))
            await api.stop()
            await write(store, job.id, epoch, lines(written + 1, written + 50), written + 1)
            written += 50
            await api.start()
        await finish(store, job.id, epoch)
        async with asyncio.timeout(60):
            await watching
        wanted = ["submitted", "claimed", *map(str, range(1, written + 1)), "succeeded", "end"]
        assert names(seen) == wanted


def _follows(api: Api) -> Callable[[], Any]:
    async def follows() -> bool:
        return bool(api.service.feeds.followed)

    return follows


async def test_a_watch_can_begin_anywhere(client: AsyncClient, store: RedisJobStore) -> None:
    job = await client.submit(SPEC)
    epoch = await claimed(store, job.id)
    await write(store, job.id, epoch, lines(1, 9), 1)
    await finish(store, job.id, epoch)
    events = [event async for event in client.watch(job.id, after=7, lifecycle_after=2)]
    assert names(events) == ["8", "9", "succeeded", "end"]
    end = events[-1]
    assert isinstance(end, End)
    assert (end.state, end.seq) == ("succeeded", 9)


async def test_another_server_is_noticed() -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        writer.close()

    server = await asyncio.start_server(other, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, AsyncClient(url) as client:
        with pytest.raises(ServiceError, match="not one of a driftfold service"):
            await client.get(NOBODY)
        with pytest.raises(ServiceError, match="not one of a driftfold service"):
            await client.records(NOBODY)
