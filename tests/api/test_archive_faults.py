"""Trouble of the archive: told by 503 and never 500, and when it is over nothing is missing."""

import asyncio
import os
import resource
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import httpx
import pytest

from driftfold_workers.jobs.job import State
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import SPEC, Api, api_on, claimed, finish, lines, problem, submitted, write
from tests.archive import databases
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio


class Clients:
    """Submit jobs, each until it is accepted, and note what was answered."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.stopping = False
        self.made: dict[str, str] = {}
        self.refused = 0

    async def one(self) -> None:
        while not self.stopping:
            await self.submit(secrets.token_hex(8))

    async def submit(self, key: str) -> None:
        while True:
            headers = {"Idempotency-Key": key}
            answer = await self.http.post("/v1/jobs", json={"spec": SPEC}, headers=headers)
            if answer.status_code == 202:
                self.made[key] = answer.json()["id"]
                return
            told = problem(answer, 503, answer.json()["type"].rpartition("/")[2])
            assert "archive" in told["detail"]
            assert int(answer.headers["retry-after"]) >= 1
            self.refused += 1
            await asyncio.sleep(0.05)


@asynccontextmanager
async def busy(api: Api, store: RedisJobStore, clients: int = 4) -> AsyncIterator[Clients]:
    """An API with a job that runs and others that come; at the end all that was told is there."""
    async with api.client() as http:
        job = await submitted(http)
        epoch = await claimed(store, job)
        come = Clients(http)
        coming = [asyncio.create_task(come.one()) for _ in range(clients)]
        await write(store, job, epoch, lines(1, 10), 1)
        try:
            yield come
            await write(store, job, epoch, lines(11, 20), 11)
            await finish(store, job, epoch)
        finally:
            come.stopping = True
            await asyncio.gather(*coming)

        async def over() -> bool:
            return (await api.archive.get(job)).state is State.SUCCEEDED

        await until(over)
        assert await api.archive.read(job) == lines(1, 20)
        kept = set[str]()
        cursor = None
        while cursor is not None or not kept:
            page = await api.archive.list(limit=200, cursor=cursor)
            kept |= {each.id for each in page.jobs}
            cursor = page.cursor
        assert kept == {job, *come.made.values()}  # no job was made twice, none is missing
        assert len(set(come.made.values())) == len(come.made)


@contextmanager
def locked(place: str) -> Iterator[None]:
    """Another program has the file for itself."""
    other = sqlite3.connect(place.removeprefix("sqlite:///"), isolation_level=None, timeout=60.0)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.parametrize(
    ("wait", "hold"), [(0.05, 0.0), pytest.param(5.0, 30.0, marks=pytest.mark.slow)]
)
async def test_another_program_has_locked_it(
    store: RedisJobStore, monkeypatch: pytest.MonkeyPatch, wait: float, hold: float
) -> None:
    monkeypatch.setattr("driftfold_api.archive.sqlite.BUSY", wait)

    async def refused() -> bool:
        return bool(come.refused)

    async with api_on(store) as api, busy(api, store) as come:
        with locked(api.place):
            await asyncio.sleep(hold)
            await until(refused)
            ready = await come.http.get("/readyz")
            assert ready.status_code == 503
            assert (await come.http.get("/v1/jobs")).status_code == 200


@contextmanager
def no_room(place: str) -> Iterator[None]:
    """Files of this process grow no more than the archive's log has."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = os.stat(f"{place.removeprefix('sqlite:///')}-wal").st_size  # noqa: PTH116
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_its_disk_is_full(store: RedisJobStore) -> None:
    async def refused() -> bool:
        return come.refused > 3

    async with api_on(store) as api, busy(api, store) as come:
        with no_room(api.place):
            await until(refused)
            assert (await come.http.get("/v1/jobs")).status_code == 200


@pytest.mark.slow
async def test_its_server_is_killed_and_started_again(store: RedisJobStore) -> None:
    pytest.importorskip("asyncpg")
    programs = databases.programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")

    async def refused() -> bool:
        return bool(come.refused)

    with databases.postgres(programs) as server:
        async with api_on(store, archive=server.url) as api, busy(api, store) as come:
            for _ in range(3):
                before, come.refused = len(come.made), 0
                await asyncio.to_thread(server.kill)
                await until(refused)
                await asyncio.to_thread(server.start)

                async def accepted(before: int = before) -> bool:
                    return len(come.made) > before + 4

                await until(accepted)
