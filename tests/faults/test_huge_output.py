"""A job that tells a million rounds, long texts, numbers that are none: stored, kept and read."""

import json
import math
from typing import Any

import httpx
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_line
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.window.window import MARGIN
from tests.api.serving import Api, api_on, claimed, finish, submitted
from tests.workers.jobs import until

BATCH = 2000
LONG = "é\u2028\n\x00🏻" * 40_000
ODD = {"loss": math.nan, "up": math.inf, "down": -math.inf, "tiny": 5e-324, "huge": 1.7e308}

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftfold_api.archive.sqlite.SYNCHRONOUS", "OFF")


@pytest_asyncio.fixture
async def api(store: RedisJobStore) -> Any:
    async with api_on(store) as api:
        yield api


def line(seq: int, note: str = "") -> bytes:
    return to_line(Record(seq, "round", 60.0 * seq, seq, ODD, note=note))


def strict(text: str) -> Any:
    """The value of a JSON text, which has no NaN."""

    def refuse(name: str) -> float:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


async def kept(api: Api, job: str, count: int) -> bool:
    return (await api.archive.get(job)).seq == count


@pytest.mark.parametrize("count", [3, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_it_is_kept_to_the_end(
    api: Api, store: RedisJobStore, server: EmbeddedServer, count: int
) -> None:
    async with api.client() as http:
        job = await submitted(http)
        epoch = await claimed(store, job, 3600.0)
        for first in range(1, count + 1, BATCH):
            numbers = range(first, min(first + BATCH, count + 1))
            lines = [line(seq, LONG if seq in (1, count) else "") for seq in numbers]
            await store.append(job, epoch, first, lines, rounds=numbers[-1])
        await finish(store, job, epoch, result={"rounds": count, "metrics": {"loss": "NaN"}})
        await until(lambda: kept(api, job, count), 900)
        for after, wanted in ((0, 1), (count // 2, count // 2 + 1), (count - 1, count)):
            page = await _page(http, job, after)
            (record,) = page["records"]
            assert record["seq"] == wanted
            assert record.get("note", "") == (LONG if wanted in (1, count) else "")
            values = record["values"]
            assert (values["loss"], values["up"], values["down"]) == (
                "NaN",
                "Infinity",
                "-Infinity",
            )
            assert (values["tiny"], values["huge"]) == (5e-324, 1.7e308)
        assert page["complete"] is True
        assert strict((await http.get(f"/v1/jobs/{job}/result")).text)["rounds"] == count
    async with Redis.from_url(server.url, protocol=2) as redis:
        assert await redis.xlen(store.keys.records(job)) <= MARGIN + BATCH


async def _page(http: httpx.AsyncClient, job: str, after: int) -> dict[str, Any]:
    answer = await http.get(f"/v1/jobs/{job}/records", params={"after": after, "limit": 1})
    assert answer.status_code == 200
    page: dict[str, Any] = strict(answer.text)
    return page
