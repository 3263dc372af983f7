"""Every job store, on every server program of this machine."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from driftfold_workers.jobs.store import JobStore
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis.server_binary import server_programs
from tests.workers import servers


@pytest.fixture(
    scope="module", params=server_programs(), ids=lambda path: "-".join(path.parts[-2:])
)
def server(request: pytest.FixtureRequest) -> Iterator[EmbeddedServer]:
    program: Path = request.param
    with servers.running(program) as server:
        yield server


@pytest_asyncio.fixture
async def store(server: EmbeddedServer) -> AsyncIterator[JobStore]:
    async with servers.store_on(server) as store:
        yield store
