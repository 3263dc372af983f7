"""`driftfold serve` begins without the job store that REDIS_URL names, and goes on with it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from driftfold_workers.redis.server_binary import find_server
from tests.archive.databases import free_port
from tests.command.service import serving
from tests.deployment.files import wait_until

pytestmark = pytest.mark.slow

SPEC = {"extends": "pca-synthetic", "horizon": {"rounds": 6}}


@contextmanager
def job_store(folder: Path, port: int) -> Iterator[None]:
    words = [str(find_server()), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    process = subprocess.Popen([*words, "--appendonly", "yes"], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_jobs_are_accepted_and_run_when_it_is_there(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, REDIS_URL=f"redis://127.0.0.1:{port}/0") as served:
        (told,) = [line for line in served.errors.read_text().splitlines() if "jobs are" in line]
        assert told.startswith(f"the job store at redis://127.0.0.1:{port}/0 gave no answer for ")
        assert told.endswith("; jobs are accepted, and run when it is there")
        with httpx.Client(base_url=served.url, trust_env=False, timeout=30.0) as http:

            def status() -> object:
                return http.get("/readyz").json()["status"]

            def state() -> object:
                return http.get(f"/v1/jobs/{job}").json()["state"]

            assert status() == "degraded"
            answer = http.post("/v1/jobs", json={"spec": SPEC})
            assert answer.status_code == 202
            job = answer.json()["id"]
            assert state() == "queued"
            with job_store(tmp_path, port):
                wait_until(lambda: status() == "ready")
                wait_until(lambda: state() == "succeeded")
