"""What a worker tells of itself at its own port."""

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.attempts.starter import Spawning
from driftfold_workers.redis_store import RedisJobStore
from driftfold_workers.settings import Settings
from driftfold_workers.supervisor import Supervisor
from driftfold_workers.worker_metrics import telling

pytestmark = pytest.mark.asyncio


async def test_slots_and_signs_of_life_are_told(store: RedisJobStore, tmp_path: Path) -> None:
    settings = Settings(name="anne", runs=Runs.at(tmp_path), slots=3, lease=60.0)
    supervisor = Supervisor(store, ["task:pca"], settings, Spawning())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with (
        telling(supervisor, port),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http,
    ):
        while True:
            try:
                alive = await http.get("/livez")
                break
            except httpx.ConnectError:
                await asyncio.sleep(0.01)
        assert (alive.status_code, alive.text) == (200, "ok\n")
        told = (await http.get("/metrics")).text
        assert 'driftfold_worker_slots{state="busy"} 0.0' in told
        assert 'driftfold_worker_slots{state="free"} 3.0' in told
        assert "driftfold_worker_sign_age_seconds" in told
        assert "process_cpu_seconds_total" in told
        assert (await http.get("/nothing")).status_code == 404
        supervisor._heard -= 61.0  # as after a minute without the job store
        assert (await http.get("/livez")).status_code == 503
