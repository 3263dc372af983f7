"""A job store on a real server, and an archive in a file of its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_workers.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers import servers


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftfold_api.archive.sqlite.SYNCHRONOUS", "OFF")


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with servers.running() as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[RedisJobStore]:
    async with servers.store_on(server) as store:
        yield store


@pytest_asyncio.fixture
async def archive(tmp_path: Path) -> AsyncIterator[SqlArchive]:
    async with SqlArchive.open(f"sqlite:///{tmp_path / 'archive.sqlite'}") as archive:
        yield archive
