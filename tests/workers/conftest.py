"""One real server for the tests of a module, an empty store on it for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_workers.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers import servers
from tests.workers.experiments import BEHAVIOUR, Behaviour


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with servers.running() as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[RedisJobStore]:
    async with servers.store_on(server) as store:
        yield store


@pytest.fixture
def behaviour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Behaviour:
    """What the processes of a test do, beside what their specification says."""
    monkeypatch.setenv(BEHAVIOUR, str(tmp_path / "behaviour.json"))
    return Behaviour(tmp_path / "behaviour.json")
