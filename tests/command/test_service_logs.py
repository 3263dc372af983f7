"""`driftfold serve --log-format json`: every line that its processes log, one by one."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftfold_workers.redis.server_binary import find_server
from tests.command.service import Served, serving

pytestmark = pytest.mark.slow

SECRET = "a-word-that-nobody-may-read"
SPEC = {"extends": "pca-synthetic", "horizon": {"rounds": 20}}


@contextmanager
def guarded(folder: Path) -> Iterator[str]:
    """A job store with a password; its address has it."""
    place = folder / "store.sock"
    options = ["--port", "0", "--unixsocket", str(place), "--requirepass", SECRET, "--save", ""]
    with subprocess.Popen(
        [find_server(), *options], cwd=folder, stdout=subprocess.DEVNULL
    ) as store:
        try:
            yield f"unix://:{SECRET}@{place}"
        finally:
            store.terminate()


def run_one(served: Served) -> str:
    with httpx.Client(base_url=served.url, trust_env=False, timeout=30.0) as http:
        headers = {"x-request-id": "submit-1"}
        job: str = http.post("/v1/jobs", json={"spec": SPEC}, headers=headers).json()["id"]
        while http.get(f"/v1/jobs/{job}").json()["state"] not in ("succeeded", "failed"):
            time.sleep(0.1)
    return job


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_line_is_an_object_and_says_what_it_is_about(tmp_path: Path) -> None:
    with (
        guarded(tmp_path) as store,
        serving(tmp_path, "--log-format", "json", "--log-level", "info", REDIS_URL=store) as served,
    ):
        job = run_one(served)
        assert served.stop() == 0
    lines = lines_of(served.errors)
    for line in lines:
        assert {"time", "level", "logger", "message"} <= set(line), line
        assert line["level"] in ("info", "warning"), line
        if line["logger"] == "driftfold.access":
            assert {"request", "method", "route", "status", "seconds"} <= set(line), line
        if line["logger"] == "driftfold.worker":
            assert line["worker"], line
        if job in line["message"]:
            assert line["job"] == job, line
    assert SECRET not in served.errors.read_text()
    attempt = [line for line in lines if line.get("job") == job and line.get("worker")]
    assert len(attempt) >= 2, "it begins and ends"
    assert {(line["attempt"], line["epoch"]) for line in attempt} == {(1, 1)}
    (accepted,) = [line for line in lines if line["message"] == f"job {job}: accepted"]
    assert (accepted["job"], accepted["request"]) == (job, "submit-1")


def test_what_is_wrong_is_told_in_the_same_form(tmp_path: Path) -> None:
    """The job store dies, and is started again."""
    with serving(tmp_path, "--log-format", "json") as served:
        run_one(served)
        facts = json.loads((tmp_path / "runs" / "redis" / "server.json").read_text())
        os.kill(facts["pid"], signal.SIGKILL)
        run_one(served)
        served.stop()
    lines = lines_of(served.errors)
    assert [line for line in lines if line["message"].startswith("the job store ended")]
