"""A job store that answers but takes no writes: said by 503, with its own words, in one line."""

import asyncio
import logging
import os
import stat
from pathlib import Path

import pytest
import redis.asyncio

from driftfold_api.archived_store import LATER
from driftfold_workers.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.server_binary import find_server
from tests.api.serving import SPEC, api_on, problem, submitted
from tests.workers import servers
from tests.workers.jobs import until

pytestmark = pytest.mark.asyncio

ROOM = 32  # blocks of 512 bytes that the server may write to a file: a few submissions


def refused_in_one_line(log: pytest.LogCaptureFixture, words: str) -> None:
    (record,) = log.records
    assert record.exc_info is None
    assert words in record.getMessage()
    assert "script" not in record.getMessage()  # no places in our own code
    assert "\n" not in record.getMessage()
    log.clear()


async def there(store: RedisJobStore, job: str) -> bool:
    return not await store.window.unknown([job])


async def test_without_its_replicas_and_with_them_again(
    server: EmbeddedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "driftfold.api")
    async with (
        servers.store_on(server) as store,
        api_on(store) as api,
        api.client() as http,
        redis.asyncio.from_url(server.url) as settings,
    ):
        job = await submitted(http)
        await settings.config_set("min-replicas-to-write", 1)
        try:
            answer = await http.post(f"/v1/jobs/{job}/cancel")
            told = problem(answer, 503, "store-refuses")
            assert "takes no writes: Not enough good replicas to write;" in told["detail"]
            assert int(answer.headers["retry-after"]) >= 1
            refused_in_one_line(caplog, "Not enough good replicas")
            ready = (await http.get("/readyz")).json()
            assert ready["status"] == "degraded"
            assert "Not enough good replicas to write" in ready["detail"]
            later = await http.post("/v1/jobs", json={"spec": SPEC})
            assert (later.status_code, later.json()["reason"]) == (202, LATER)
            assert (await http.get(f"/v1/jobs/{job}")).json()["state"] == "queued"
            assert (await http.get("/livez")).status_code == 200
        finally:
            await settings.config_set("min-replicas-to-write", 0)
        assert (await http.get("/readyz")).json() == {"status": "ready", "workers": 0}
        await until(lambda: there(store, later.json()["id"]))


def small_disk(folder: Path) -> Path:
    """A server program that finds the disk full after a few writes."""
    program = folder / "small"
    program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nulimit -f {ROOM}\nexec {find_server()} \"$@\"\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.mark.skipif(os.name != "posix", reason="limits files by ulimit")
async def test_when_its_log_cannot_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "driftfold.api")
    with servers.running(small_disk(tmp_path)) as server:
        async with servers.store_on(server) as store, api_on(store) as api, api.client() as http:
            job = await submitted(http)
            async with asyncio.timeout(30):
                while not (await http.post("/v1/jobs", json={"spec": SPEC})).json()["reason"]:
                    pass
            answer = await http.post(f"/v1/jobs/{job}/cancel")
            detail = problem(answer, 503, "store-refuses")["detail"]
            assert "takes no writes: Errors writing to the AOF file: " in detail
            refused_in_one_line(caplog, "Errors writing to the AOF file")
            assert (await http.get("/readyz")).json()["status"] == "degraded"
