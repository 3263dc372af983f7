"""Pages of records, and waiting for the next one."""

import asyncio
import json

import httpx
import pytest

from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import claimed, finish, lines, problem, submitted, write

pytestmark = pytest.mark.asyncio


async def test_records_are_read_page_by_page_to_the_end(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    url = f"/v1/jobs/{job}/records"
    assert (await http.get(url)).json() == {
        "records": [], "last": 0, "state": "queued", "complete": False,
    }  # fmt: skip
    epoch = await claimed(store, job)
    await write(store, job, epoch, lines(1, 25), 1)
    found, last, complete = [], 0, False
    while not complete:
        page = (await http.get(url, params={"after": last, "limit": 10})).json()
        found += page["records"]
        last, complete = page["last"], page["complete"]
        if last == 25 and page["state"] == "running":
            assert not complete
            await finish(store, job, epoch)
    assert found == [json.loads(record) for record in lines(1, 25)]
    assert page["state"] == "succeeded"


async def test_records_are_passed_on_as_they_were_written(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    """NaN is text already; numbers keep every digit."""
    job = await submitted(http)
    epoch = await claimed(store, job)
    text = b'{"seq":1,"kind":"round","time":0.1000000000000000055,"values":{"a":"NaN"}}\n'
    await write(store, job, epoch, [text], 1)
    answer = await http.get(f"/v1/jobs/{job}/records")
    assert text.strip() in answer.content
    assert b"NaN" not in answer.content.replace(b'"NaN"', b"")


async def test_a_wait_ends_with_a_record_with_the_job_or_in_time(
    http: httpx.AsyncClient, store: RedisJobStore
) -> None:
    job = await submitted(http)
    epoch = await claimed(store, job)
    url = f"/v1/jobs/{job}/records"
    empty = (await http.get(url, params={"wait": 0.05})).json()
    assert empty["records"] == []
    waiting = asyncio.create_task(http.get(url, params={"wait": 60}))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await write(store, job, epoch, lines(1, 2), 1)
    assert (await waiting).json()["last"] in (1, 2)
    waiting = asyncio.create_task(http.get(url, params={"after": 2, "wait": 60}))
    await asyncio.sleep(0.2)
    await finish(store, job, epoch)
    page = (await waiting).json()
    assert (page["records"], page["complete"]) == ([], True)


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "limit=0", "limit=9999", "wait=61", "wait=nan"]
)
async def test_a_bad_parameter_is_named(http: httpx.AsyncClient, query: str) -> None:
    job = await submitted(http)
    told = problem(await http.get(f"/v1/jobs/{job}/records?{query}"), 422, "invalid-request")
    assert [error["field"] for error in told["errors"]] == [f"query.{query.partition('=')[0]}"]
