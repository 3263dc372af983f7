"""A real API on a real job store for each test; the Redis server is shared by a module."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api, api_on
from tests.workers import servers
from tests.workers.experiments import Behaviour
from tests.workers.fixtures import server, store

__all__ = ["server", "store"]  # used by the tests here


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("driftfold_api.archive.sqlite.SYNCHRONOUS", "OFF")
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(server: EmbeddedServer) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an API that all tests of a module share."""
    async with servers.store_on(server) as store, api_on(store) as api, api.client() as client:
        yield client


@pytest_asyncio.fixture
async def api(store: RedisJobStore, tmp_path: Path) -> AsyncIterator[Api]:
    async with api_on(store, tmp_path) as api:
        yield api


@pytest.fixture
def behaviour() -> Iterator[Behaviour]:
    """What the processes of a test do, beside what their specification says."""
    behaviour = Behaviour()
    yield behaviour
    behaviour.forget()


@pytest_asyncio.fixture
async def http(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client() as client:
        yield client
