"""The API as a process of its own, which can be killed and come back at the same address."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from driftfold_api.server import listen

CODE = """
import asyncio, json, sys
from driftfold_api.app import create_app
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.server import listen, server_of
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.artefacts.runs import Runs

async def serve(url, prefix, port, runs):
    place = f"sqlite:///{runs}/archive.sqlite"
    async with RedisJobStore.open(url, prefix=prefix) as store, SqlArchive.open(place) as archive:
        app = create_app(store, archive, runs=Runs.at(runs))
        await server_of(app).serve([listen("127.0.0.1", port)])

asyncio.run(serve(**json.loads(sys.argv[1])))
"""


class ApiProcess:
    """The API at a port, started and killed at will."""

    def __init__(self, url: str, prefix: str, port: int, runs: Path) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self._facts = json.dumps({"url": url, "prefix": prefix, "port": port, "runs": str(runs)})
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", CODE, self._facts],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        async with asyncio.timeout(60), httpx.AsyncClient(trust_env=False) as http:
            while True:
                try:
                    await http.get(f"{self.origin}/livez")
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
                else:
                    return

    def kill(self) -> None:
        """End it as kill -9 does; nothing is said to those who are connected."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@asynccontextmanager
async def started(url: str, prefix: str, runs: Path) -> AsyncIterator[ApiProcess]:
    """The API at a port that was free; it is killed at the end, if it still runs."""
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    process = ApiProcess(url, prefix, port, runs)
    await process.start()
    try:
        yield process
    finally:
        process.kill()
