"""The benchmark of the service runs, and its figures have the names that readers look for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the CPU clocks of other processes")
def test_quick_prints_every_figure() -> None:
    command = [sys.executable, "-m", "bench.service", "--quick"]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=120)
    told = json.loads(ended.stdout)
    assert told["threads"] == 1
    for connections in ("1 connections", "20 connections"):
        assert {"requests_per_second", "api_cpu_ms", "p50_ms"} <= set(told["submit"][connections])
    assert told["submit"]["equal, with one key"]["jobs"] == 1
    events = told["delivered_event"]
    for batch in (
        "1 records an append",
        "10 records an append",
        "five jobs on one stream",
        "crowd",
    ):
        assert events[batch]["api_cpu_us"] > 0
    assert events["crowd"]["subscribers"] == 50
    assert events["crowd"]["redis_connections"] <= 15
    assert {"memory_mb", "cpu_ratio"} < set(events["stalled readers"])
    assert set(told["job"]) == {"real images", "tiny"}
    for job in told["job"].values():
        for arm in ("job", "process", "run"):
            assert min(job[f"{arm}_wall_s"], job[f"{arm}_cpu_s"]) > 0
        assert min(job["child_cpu_to_run"], job["claim_to_first_record_s"]) > 0
        assert min(job["wall_to_process"], job["wall_to_run"], job["cpu_to_process"]) > 0
