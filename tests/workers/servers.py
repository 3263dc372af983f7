"""Servers and stores for tests: real ones, with keys of its own for each test."""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore


@contextmanager
def running(program: Path | None = None) -> Iterator[EmbeddedServer]:
    """A server on a folder of its own."""
    with (
        TemporaryDirectory(prefix="driftfold-") as folder,
        EmbeddedServer.open(Path(folder), program=program) as server,
    ):
        yield server


@asynccontextmanager
async def store_on(server: EmbeddedServer, patience: float = 10.0) -> AsyncIterator[RedisJobStore]:
    """An empty store on a server."""
    prefix = secrets.token_hex(4)
    async with RedisJobStore.open(server.url, prefix=prefix, patience=patience) as store:
        yield store
