"""A job store that answers but takes no writes: jobs and wishes are kept, the trouble is told."""

import asyncio
import os
import stat
from pathlib import Path

import pytest
import redis.asyncio

from driftfold_api.archive import wishing
from driftfold_api.archive.pausing import PAUSED_LATER
from driftfold_api.archived_store import LATER
from driftfold_workers.jobs.job import State
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis.server_binary import find_server
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import SPEC, api_on, submitted
from tests.workers import servers
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio

ROOM = 32  # blocks of 512 bytes that the server may write to a file: a few submissions


async def there(store: RedisJobStore, job: str) -> bool:
    return not await store.window.unknown([job])


async def test_without_its_replicas_and_with_them_again(server: EmbeddedServer) -> None:
    async with (
        servers.store_on(server) as store,
        api_on(store) as api,
        api.client() as http,
        redis.asyncio.from_url(server.url) as settings,
    ):
        job, other = await submitted(http), await submitted(http)
        await settings.config_set("min-replicas-to-write", 1)
        try:
            told = (await http.post(f"/v1/jobs/{job}/cancel")).json()
            assert (told["state"], told["reason"]) == ("canceling", wishing.LATER)
            told = (await http.post(f"/v1/jobs/{other}/pause")).json()
            assert (told["state"], told["reason"]) == ("queued", PAUSED_LATER)
            ready = (await http.get("/readyz")).json()
            assert ready["status"] == "degraded"
            assert "Not enough good replicas to write" in ready["detail"]
            later = await http.post("/v1/jobs", json={"spec": SPEC})
            assert (later.status_code, later.json()["reason"]) == (202, LATER)
            assert (await http.get("/livez")).status_code == 200
        finally:
            await settings.config_set("min-replicas-to-write", 0)
        assert (await http.get("/readyz")).json() == {"status": "ready", "workers": 0}
        await until(lambda: there(store, later.json()["id"]))

        async def canceled() -> bool:
            return (await store.get(job)).state is State.CANCELED

        async def paused() -> bool:
            return (await store.get(other)).state is State.PAUSED

        await until(canceled)
        await until(paused)


def small_disk(folder: Path) -> Path:
    """A server program that finds the disk full after a few writes."""
    program = folder / "small"
    program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nulimit -f {ROOM}\nexec {find_server()} \"$@\"\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.mark.skipif(os.name != "posix", reason="limits files by ulimit")
async def test_when_its_log_cannot_be_written(tmp_path: Path) -> None:
    with servers.running(small_disk(tmp_path)) as server:
        async with servers.store_on(server) as store, api_on(store) as api, api.client() as http:
            job = await submitted(http)
            async with asyncio.timeout(30):
                while not (await http.post("/v1/jobs", json={"spec": SPEC})).json()["reason"]:
                    pass
            answer = await http.post(f"/v1/jobs/{job}/cancel")
            assert (answer.status_code, answer.json()["state"]) == (202, "canceling")
            ready = (await http.get("/readyz")).json()
            assert ready["status"] == "degraded"
            assert "takes no writes now: " in ready["detail"]
            assert "Errors writing to the AOF file" in ready["detail"]
            assert "script" not in ready["detail"]  # no places in our own code
