"""One real server for the tests of a module, an empty store on it for each test."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.workers import servers


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with servers.running() as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[RedisJobStore]:
    async with servers.store_on(server) as store:
        yield store
