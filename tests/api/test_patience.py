"""Clients that wait: for how long, what they say meanwhile, and with which words they give up."""

import asyncio

import pytest

from driftfold_api.client import AsyncClient, Client, asynchronous, patience, synchronous
from driftfold_api.errors import ServiceError, Unreachable
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import StoreUnreachable
from driftfold_workers.redis_store import RedisJobStore
from tests.api.clients import elsewhere
from tests.api.serving import NOBODY, SPEC, Api
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is told at once."""
    for module in (synchronous, asynchronous):
        monkeypatch.setattr(module, "TELL_AFTER", 0.05)


async def test_a_submission_is_repeated_until_the_service_is_there_and_makes_one_job(
    api: Api, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "TELL_AFTER", 0.05)
    await api.stop()
    told: list[str] = []
    submitting = asyncio.create_task(
        elsewhere(api, lambda client: client.submit(SPEC), tell=told.append)
    )

    async def said() -> bool:
        return bool(told)

    await until(said)
    assert not submitting.done()
    await api.start()
    job = await submitting
    assert [known.id for known in (await store.list()).jobs] == [job.id]
    waiting, there = told
    assert waiting.startswith(f"waiting for {api.url} (")
    assert waiting.endswith("; trying for 20 s")
    assert there == f"{api.url} answers again"


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("blocking", [True, False])
async def test_of_a_service_that_is_silent_it_is_said_what_is_waited_for(blocking: bool) -> None:
    told: list[str] = []
    come = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await come.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def ask() -> None:
        with Client(url, patience=0.1, tell=told.append) as client:
            client.get(NOBODY)

    async def ask_async() -> None:
        async with AsyncClient(url, patience=0.1, tell=told.append) as client:
            await client.get(NOBODY)

    async def said() -> bool:
        return bool(told)

    async with server:
        asking = asyncio.create_task(asyncio.to_thread(ask) if blocking else ask_async())
        await until(said)
        await asyncio.sleep(0.1)
        come.set()
        with pytest.raises(Unreachable):
            await asking
    assert told == [f"waiting for {url}"]


async def test_a_service_without_its_store_is_given_up_with_its_own_words(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(job: str) -> Job:
        raise StoreUnreachable("the job store is on holiday")

    monkeypatch.setattr(api.store, "get", away)
    for use in (lambda client: client.get(NOBODY), lambda client: list(client.watch(NOBODY))):
        with pytest.raises(ServiceError, match=r"^the job store is on holiday$"):
            await elsewhere(api, use, patience=0.2)
    async with AsyncClient(api.url, patience=0.2) as impatient:
        with pytest.raises(ServiceError, match=r"^the job store is on holiday$"):
            _ = [event async for event in impatient.watch(NOBODY)]


async def test_patience_ends_with_what_to_do(api: Api) -> None:
    await api.stop()
    with pytest.raises(Unreachable, match="driftfold serve"):
        await elsewhere(api, lambda client: client.get(NOBODY), patience=0.2)
    with pytest.raises(Unreachable, match="driftfold serve"):
        await elsewhere(api, lambda client: list(client.watch(NOBODY)), patience=0.2)
    async with AsyncClient(api.url, patience=0.2) as client:
        with pytest.raises(Unreachable, match="--url"):
            await client.cancel(NOBODY)
        with pytest.raises(Unreachable):
            _ = [event async for event in client.watch(NOBODY)]
    await api.start()
