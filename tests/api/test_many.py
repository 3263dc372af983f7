"""One stream for many jobs: what each one's own stream tells, and cursors that lose nothing."""

import asyncio
import sqlite3
from pathlib import Path

import httpx
import pytest

from driftfold_api import frames, roster
from driftfold_api.client import AsyncClient, Positions
from driftfold_api.cursor import Cursor, Place
from driftfold_api.models import End, Gap, Reset
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import NOBODY, SPEC, Api, claimed, finish, lines, problem, submitted, write
from tests.api.watching import Stream, stream
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


async def begun(http: httpx.AsyncClient, store: RedisJobStore, records: int = 0) -> tuple[str, int]:
    job = await submitted(http)
    epoch = await claimed(store, job)
    if records:
        await write(store, job, epoch, lines(1, records), 1)
    return job, epoch


async def until_told(watched: Stream, *wanted: tuple[str, str]) -> None:
    async with asyncio.timeout(60):
        while not set(wanted) <= set(watched.seen.told):
            assert await watched.more(), watched.seen.told


def of(told: list[tuple[str, str]], job: str) -> list[str]:
    return [what for whose, what in told if whose == job]


async def test_each_event_names_its_job_and_each_job_is_told_as_by_its_own_stream(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    one, first = await begun(http, store, 700)
    two, second = await begun(http, store, 3)
    async with stream(api, "", f"?jobs={one},{two}") as watched:
        await until_told(watched, (one, "700"), (two, "3"))
        await write(store, two, second, lines(4, 5), 4)
        await write(store, one, first, lines(701, 701), 701)
        await finish(store, one, first)
        await finish(store, two, second)
        seen = await watched.whole()
    for job in (one, two):
        async with stream(api, job) as alone:
            assert of(seen.told, job) == (await alone.whole()).names
    assert len(seen.texts) < 100  # records that come together are one event
    assert Cursor.read(seen.cursors[-1]).places == {one: Place(over=True), two: Place(over=True)}
    query = f"?jobs={one},{two}&cursor={seen.cursors[-1]}"
    assert (await http.get(f"/v1/events{query}")).status_code == 204  # browsers do not come back
    await until(api.idle)


async def test_from_the_id_of_any_event_exactly_the_rest_is_told(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    jobs = [await begun(http, store, 2) for _ in range(3)]
    query = f"?jobs={','.join(job for job, _ in jobs)}"
    async with stream(api, "", query) as watched:
        await until_told(watched, *((job, "2") for job, _ in jobs))
        for seq in range(3, 6):
            for job, epoch in jobs[:2]:
                await write(store, job, epoch, lines(seq, seq), seq)
        for job, epoch in jobs:
            await finish(store, job, epoch)
        seen = await watched.whole()
    told: list[tuple[str, str]] = []
    cursors = {}
    for frame in seen.texts:
        told += seen.pairs(frame)
        if cursor := seen._field(frame, "id"):
            cursors[cursor] = len(told)
    for cursor in [*cursors][:-1:3]:
        headers = {"Last-Event-ID": cursor}
        async with stream(api, "", query + "&cursor=x", headers) as watched:
            rest = (await watched.whole()).told
        for job, _ in jobs:
            assert of(told[: cursors[cursor]] + rest, job) == of(told, job)


async def test_what_no_stream_can_be_made_of_is_refused(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job, _ = await begun(http, store)
    problem(await http.get(f"/v1/events?jobs={job},{NOBODY}"), 404, "unknown-job")
    problem(await http.get("/v1/events?jobs="), 404, "unknown-job")
    many = ",".join(f"01900000-0000-7000-8000-{number:012}" for number in range(101))
    problem(await http.get(f"/v1/events?jobs={many}"), 422, "invalid-request")
    for bad in ("x", "*.1.2", "AZAAAAAAcACAAAAAAAAAAA.1", "AZAAAAAAcACAAAAAAAAAAA.1.-2"):
        problem(await http.get(f"/v1/events?cursor={bad}"), 422, "invalid-request")
        answer = await http.get(f"/v1/events?jobs={job}", headers={"Last-Event-ID": bad})
        problem(answer, 422, "invalid-request")


async def test_a_job_that_was_deleted_while_one_was_away_has_ended(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    gone, first = await begun(http, store, 2)
    stays, second = await begun(http, store, 2)
    async with stream(api, "", f"?jobs={gone},{stays}") as watched:
        await until_told(watched, (gone, "2"), (stays, "2"))
    await finish(store, gone, first)
    await api.service.store.delete(gone)
    await finish(store, stays, second)
    query = f"?jobs={gone},{stays}&cursor={watched.seen.cursors[-1]}"
    async with stream(api, "", query) as watched:
        seen = await watched.whole()
    assert of(seen.told, gone) == ["end"]
    assert of(seen.told, stays) == ["succeeded", "end"]
    assert {end["state"] for end in seen.data("end")} == {"deleted", "succeeded"}


async def test_jobs_that_begin_join_and_over_a_restart_none_is_missed(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "EVERY", 0.01)
    before, ended = await begun(http, store, 2)
    await finish(store, before, ended)
    old, first = await begun(http, store, 3)
    async with stream(api, "") as watched:
        await until_told(watched, (old, "3"))
        young, second = await begun(http, store, 2)
        await until_told(watched, (young, "2"))
        cursor = watched.seen.cursors[-1]
        assert not of(watched.seen.told, before)
    await finish(store, young, second)
    missed, third = await begun(http, store, 4)
    await finish(store, missed, third)
    await write(store, old, first, lines(4, 4), 4)
    async with stream(api, "", headers={"Last-Event-ID": cursor}) as watched:
        await until_told(watched, (missed, "end"), (old, "4"), (young, "end"))
        told = watched.seen.told
    assert of(told, missed) == ["submitted", "claimed", *"1234", "succeeded", "end"]
    assert of(told, young) == ["succeeded", "end"]
    assert of(told, old) == ["4"]
    assert Cursor.read(watched.seen.cursors[-1]).places == {old: Place(4, 2)}
    await until(api.idle)


async def test_of_a_group_its_own_jobs_are_told_once_they_have_begun(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "EVERY", 0.01)
    asked = {"spec": SPEC, "sweep": {"seeds": [1, 2, 3]}}
    group = (await http.post("/v1/groups", json=asked)).json()["id"]
    children = (await http.get(f"/v1/groups/{group}/jobs")).json()["jobs"]
    one, two, three = (child["job"]["id"] for child in children)
    await finish(store, one, await claimed(store, one))
    async with stream(api, "", f"?group={group}") as watched:
        await until_told(watched, (one, "end"))
        await claimed(store, two)
        await until_told(watched, (two, "claimed"))
        epoch = await claimed(store, three)
        other, _ = await begun(http, store, 2)
        await write(store, three, epoch, lines(1, 2), 1)
        await until_told(watched, (three, "2"))
        assert not of(watched.seen.told, other)
    problem(await http.get(f"/v1/events?group={NOBODY}"), 404, "unknown-group")
    problem(await http.get(f"/v1/events?group={group}&jobs={one}"), 422, "invalid-request")


async def test_who_was_away_for_too_long_is_told_so(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    await begun(http, store)
    async with AsyncClient(api.url) as client:
        positions = Positions(cursor=Cursor(turn=17).text)
        watching = client.watch_many(positions)
        job, event = await anext(watching)
        assert (job, type(event)) == ("", Reset)
        assert (await anext(watching))[0] != ""
        await watching.aclose()  # type: ignore[attr-defined]


@pytest.mark.parametrize("many", [True, False])
async def test_records_that_nobody_has_any_more_are_told_as_a_gap(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, many: bool
) -> None:
    job, epoch = await begun(http, store, 3000)
    await finish(store, job, epoch)
    await until(lambda: over(api, job))
    with sqlite3.connect(Path(api._folder) / "archive.sqlite") as older:
        older.execute("DELETE FROM records")
    async with AsyncClient(api.url) as client:
        if many:
            told = [event async for _, event in client.watch_many([job])]
        else:
            told = [event async for event in client.watch(job)]
    (gap,) = (event for event in told if isinstance(event, Gap))
    first = told[told.index(gap) + 1]
    assert (gap.first, gap.last + 1) == (1, first.seq)  # type: ignore[union-attr]
    assert [event.seq for event in told[-2001:-2] if not isinstance(event, End)][-1] == 3000  # type: ignore[union-attr]


async def over(api: Api, job: str) -> bool:
    return (await api.archive.get(job)).state.final


async def test_a_record_is_encoded_once_for_all(
    api: Api, http: httpx.AsyncClient, store: RedisJobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = 0
    encode = frames.record

    def counted(number: int, line: bytes) -> bytes:
        nonlocal encoded
        encoded += 1
        return encode(number, line)

    monkeypatch.setattr(frames, "record", counted)
    jobs = [await begun(http, store) for _ in range(3)]
    names = [job for job, _ in jobs]

    async def follow(number: int) -> int:
        job = names[number % 3] if number % 2 else ""
        async with stream(api, job, "" if job else f"?jobs={','.join(names)}") as watched:
            seen = await watched.whole()
        return len(seen.ids) if job else len([what for _, what in seen.told if what.isdigit()])

    following = [asyncio.create_task(follow(number)) for number in range(40)]

    async def all_follow() -> bool:
        return api.service.feeds.followers == 40

    await until(all_follow)
    for seq in range(1, 11):
        for job, epoch in jobs:
            await write(store, job, epoch, lines(seq, seq), seq)
    for job, epoch in jobs:
        await finish(store, job, epoch)
    assert [await task for task in following] == [30, 10] * 20
    assert encoded == 30
