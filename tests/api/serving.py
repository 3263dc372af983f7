"""A real server of the API, in the test's own event loop, at a free port of the loopback."""

import asyncio
import math
import shutil
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import httpx
from fastapi import FastAPI

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_line
from driftfold_api.app import create_app
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.hosts import LOOPBACK, Hosts
from driftfold_api.server import listen, server_of, url_of
from driftfold_api.service import Service
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import JobStore
from driftfold_workers.redis_store import RedisJobStore

SPEC = {"extends": "pca-synthetic", "horizon": {"rounds": 20}}
"""A specification as users send it."""

NOBODY = "01900000-0000-7000-8000-000000000000"
"""The id of no job."""


class Api:
    """The API on a store; it can be stopped and started again at the same address.

    Its archive is a file that stays when it is stopped.
    """

    def __init__(
        self,
        store: RedisJobStore,
        runs: Path | str | None = None,
        hosts: Hosts = LOOPBACK,
        archive: str | None = None,
    ) -> None:
        self.store = store
        self.archive: SqlArchive
        self._folder = mkdtemp(prefix="driftfold-")
        self.place = archive or f"sqlite:///{self._folder}/archive.sqlite"
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._stack = AsyncExitStack()
        self.runs = runs
        self.hosts = hosts
        self.url = ""
        self.app: FastAPI
        self._port = 0
        self._serving: asyncio.Task[None] | None = None

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    async def start(self) -> Self:
        self.archive = await self._stack.enter_async_context(SqlArchive.open(self.place))
        self.app = create_app(
            self.store,
            self.archive,
            runs=None if self.runs is None else Runs.at(self.runs),
            hosts=self.hosts,
        )
        listening = listen("127.0.0.1", self._port)
        self._port = listening.getsockname()[1]
        self.url = url_of(listening)
        self._server = server_of(self.app, log_level="critical")
        self._serving = asyncio.create_task(self._server.serve([listening]))
        return self

    async def stop(self) -> None:
        if self._serving is not None:
            self._server.should_exit = True
            await self._serving
            self._serving = None
            await self._stack.aclose()

    @property
    def connections(self) -> int:
        return len(self._server.server_state.connections)

    async def idle(self) -> bool:
        """Whether nobody is connected and nothing is kept for those who were."""
        return not self.connections and not self.service.feeds.followed

    def client(self, connections: int = 50) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=0)
        return httpx.AsyncClient(base_url=self.url, timeout=30.0, trust_env=False, limits=limits)


@asynccontextmanager
async def api_on(
    store: RedisJobStore, runs: Path | str | None = None, archive: str | None = None
) -> AsyncIterator[Api]:
    api = await Api(store, runs, archive=archive).start()
    try:
        yield api
    finally:
        await api.stop()


def lines(first: int, last: int, note: str = "") -> list[bytes]:
    """Records `first` to `last`, one a line, as an attempt sends them."""
    return [
        to_line(Record(seq, "round", 60.0 * seq, seq, {"loss": math.nan}, note=note))
        for seq in range(first, last + 1)
    ]


async def submitted(http: httpx.AsyncClient, **fields: Any) -> str:
    """The id of a new job."""
    answer = await http.post("/v1/jobs", json={"spec": SPEC, **fields})
    assert answer.status_code == 202, answer.text
    job: str = answer.json()["id"]
    return job


async def claimed(store: JobStore, job: str, lease: float = 60.0) -> int:
    """The epoch of an attempt at a job."""
    needs = (await store.get(job)).needs
    claim = await store.claim("anne", needs, lease)
    assert claim is not None
    assert claim.job.id == job
    return claim.epoch


async def write(
    store: JobStore, job: str, epoch: int, records: Sequence[bytes], first: int
) -> None:
    await store.append(job, epoch, first, records, rounds=first + len(records) - 1)


async def finish(store: JobStore, job: str, epoch: int, **told: Any) -> None:
    await store.finish(job, epoch, State.SUCCEEDED, **{"result": {"rounds": 20}, **told})


def problem(answer: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """The problem that an answer tells; everything about its form is checked here."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    told: dict[str, Any] = answer.json()
    assert told["type"] == f"/problems/{slug}"
    assert told["status"] == status
    assert told["title"]
    assert told["detail"]
    assert told["instance"] == answer.request.url.path
    assert "Traceback" not in answer.text
    return told


async def talk(api: Api, sent: bytes, until: asyncio.Event | None = None) -> None:
    """Send bytes on a connection of one's own, wait for something, and leave."""
    host, port = api.url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent)
    await writer.drain()
    if until is not None:
        await until.wait()
    writer.close()
    await writer.wait_closed()
