"""The stream of a job: all that there is and all to come, once each, in order, to the end."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from driftfold_api import feed
from driftfold_workers.jobs.job import State
from driftfold_workers.redis import signals
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, claimed, finish, lines, problem, submitted, write
from tests.api.watching import stream
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


class Calls:
    """A method of the store, counted."""

    def __init__(self, method: Callable[..., Awaitable[Any]]) -> None:
        self.method = method
        self.count = 0

    async def __call__(self, *args: Any, **options: Any) -> Any:
        self.count += 1
        return await self.method(*args, **options)


async def test_history_and_news_come_in_order_and_the_end_last(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 1500), 1)
    async with stream(api, job) as watched:
        await watched.until(1500)
        for first in range(1501, 1511):
            await write(store, job, epoch, lines(first, first), first)
        await finish(store, job, epoch)
        seen = await watched.whole()
    assert seen.ids == list(range(1, 1511))
    assert [record["seq"] for record in seen.data("")] == seen.ids
    assert seen.data("")[0] == json.loads(lines(1, 1)[0])
    assert seen.names[0] == "submitted"
    assert seen.names[-2:] == ["succeeded", "end"]
    assert seen.data("end") == [{"id": job, "state": "succeeded", "reason": "", "seq": 1510}]
    assert seen.texts[0].startswith("retry: ")
    await until(api.idle)


async def test_lifecycle_events_stand_where_they_happened_and_have_no_id(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    first = await claimed(store, job)
    await store.append(job, first, 1, lines(1, 3), checkpoint="c", rounds=3)
    await store.release(job, first, reason="", counted=False, attempts=5)
    second = await claimed(store, job)
    await write(store, job, second, lines(4, 6), 4)
    await finish(store, job, second)
    wanted = ["submitted", "claimed", *"123", "released", "resumed", *"456", "succeeded", "end"]
    async with stream(api, job) as watched:
        seen = await watched.whole()
    assert seen.names == wanted
    assert all("id:" not in text for text in seen.texts if "event:" in text)
    numbers = [event["number"] for event in seen.data("lifecycle")]
    async with stream(api, job, f"?after=2&lifecycle_after={numbers[2]}") as watched:
        assert (await watched.whole()).names == ["3", "resumed", *"456", "succeeded", "end"]


async def test_a_stream_goes_on_where_the_client_says(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 20), 1)
    await finish(store, job, epoch)
    async with stream(api, job, "?after=17") as watched:
        assert (await watched.whole()).ids == [18, 19, 20]
    async with stream(api, job, "?after=3", {"Last-Event-ID": "18"}) as watched:
        assert (await watched.whole()).ids == [19, 20]  # a browser's address stays the same
    async with stream(api, job, "?after=20") as watched:
        assert (await watched.whole()).ids == []
    async with stream(api, job, "?after=999") as watched:
        assert (await watched.whole()).names[-1] == "end"
    for bad in ("x", "-1", "1.5"):
        answer = await http.get(f"/v1/jobs/{job}/events", headers={"Last-Event-ID": bad})
        problem(answer, 422, "invalid-request")
        problem(await http.get(f"/v1/jobs/{job}/events?after={bad}"), 422, "invalid-request")


async def test_a_queued_job_is_watched_through_its_whole_life(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    async with stream(api, job) as watched:
        await watched.until_named("waiting")  # for a worker
        epoch = await claimed(store, job)
        await watched.until_named("claimed")  # though no record comes
        await write(store, job, epoch, lines(1, 1), 1)
        await watched.until(1)
        await store.finish(job, epoch, State.FAILED, reason="no luck")
        seen = await watched.whole()
    assert seen.names == ["submitted", "waiting", "claimed", "1", "failed", "end"]
    assert seen.data("end")[0]["reason"] == "no luck"


async def test_a_job_that_is_canceled_in_the_queue_ends_its_stream(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    async with stream(api, job) as watched:
        await watched.until_named("waiting")
        await store.cancel(job)
        assert (await watched.whole()).names == ["submitted", "waiting", "canceled", "end"]


async def test_a_job_that_is_deleted_ends_its_stream(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 3), 1)
    async with stream(api, job) as watched:
        await watched.until(3)
        await finish(store, job, epoch)
        await store.delete(job)
        seen = await watched.whole()
    assert seen.names[-1] == "end"
    assert seen.data("end")[0]["state"] in ("succeeded", "deleted")


async def test_many_followers_cost_one_reader(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    """Each gets the same, wherever it began; the store is read for all of them together."""
    job = await submitted(http)
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 10), 1)
    news, read = Calls(store.news), Calls(store.read)
    store.news, store.read = news, read  # type: ignore[method-assign]

    async def follow(after: int) -> list[int]:
        async with stream(api, job, f"?after={after}") as watched:
            return (await watched.whole()).ids

    following = [asyncio.create_task(follow(number % 10)) for number in range(100)]

    async def all_follow() -> bool:
        return api.connections >= 100

    await until(all_follow)
    for first in range(11, 61):
        await write(store, job, epoch, lines(first, first), first)
    await finish(store, job, epoch)
    for number, ids in enumerate(await asyncio.gather(*following)):
        assert ids == list(range(number % 10 + 1, 61))
    assert news.count + read.count < 100  # one follower alone costs up to 52
    await until(api.idle)


async def test_a_long_line_and_any_text_pass(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    notes = ["x" * 3_000_000, "a\nb\r\n\n", "Frühling 🚀", "\u2028"]
    records = [lines(seq, seq, note)[0] for seq, note in enumerate(notes, 1)]
    await write(store, job, epoch, records, 1)
    await finish(store, job, epoch)
    async with stream(api, job) as watched:
        seen = await watched.whole()
    assert [record["note"] for record in seen.data("")] == notes


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is looked for by the clock: what comes was told by the store at once."""
    monkeypatch.setattr(signals, "RECHECK", 1000.0)
    monkeypatch.setattr(feed, "WAIT", 1000.0)


@pytest.mark.usefixtures("patient")
async def test_lifecycle_events_come_at_once_and_nobody_polls(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    news, look = Calls(store.news), Calls(store.get)
    store.news, store.get = news, look  # type: ignore[method-assign]
    async with stream(api, job) as watched:
        await watched.until_named("claimed")
        await store.cancel(job)
        await watched.until_named("cancel-requested")
        await store.append(job, epoch, 1, [], checkpoint="c")  # is not told
        await store.finish(job, epoch, State.CANCELED)
        seen = await watched.whole()
    assert seen.names == ["submitted", "claimed", "cancel-requested", "canceled", "end"]
    assert news.count <= 4  # one for what there is, one for each thing that happens
    assert look.count == 1  # the request itself


@pytest.mark.usefixtures("patient")
async def test_more_lifecycle_events_than_a_page_keep_their_places(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PAGE", 4)
    job = await submitted(http)
    wanted = ["submitted"]
    for first in range(1, 30, 3):
        epoch = await claimed(store, job)
        wanted += ["claimed" if first == 1 else "resumed"]
        for seq in range(first, first + 3):
            await store.append(job, epoch, seq, lines(seq, seq), checkpoint=str(seq))
            wanted += [str(seq)]
        await store.release(job, epoch, reason="", counted=False, attempts=5)
        wanted += ["released"]
    for backlog, kept in ((500, 2**20), (2, 2**20), (0, 1)):
        monkeypatch.setattr(feed, "BACKLOG", backlog)
        monkeypatch.setattr(feed, "KEPT", kept)
        async with stream(api, job) as watched:
            assert (await watched.until_named("waiting")).names == [*wanted, "waiting"]
        await until(api.idle)


async def test_a_queued_job_whose_worker_leaves_says_so(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "WAIT", 0.02)
    job = await submitted(http)
    needs = (await store.get(job)).needs
    await store.announce("anne", needs, 1, 1000.0)
    async with stream(api, job) as watched:
        await watched.until_named("submitted")
        assert watched.seen.data("waiting") == []
        await store.announce("anne", needs, 1, 0.0)
        await watched.until_named("waiting")
        await store.announce("bert", needs, 1, 1000.0)
        while len(watched.seen.data("waiting")) < 2:
            await watched.more()
    told = [waiting["reason"] for waiting in watched.seen.data("waiting")]
    assert told == ["no worker is there; start one", ""]
