"""The benchmark of a fleet's week runs, and tells what readers look for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_quick_prints_every_figure() -> None:
    command = [sys.executable, "-m", "bench.fleet", "--quick"]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=300)
    told = json.loads(ended.stdout)
    assert told["threads"] == 1
    small, large = told["weeks"].values()
    assert large["clients"] == 10 * small["clients"]
    for week in (small, large):
        assert week["accepted"] == 100 * week["server_steps"]
        assert week["accepted"] + week["dropped"] <= week["invited"]
        # A visit that is over has told of its download, its work and its answer, or that it left.
        assert 3 * week["accepted"] <= week["events"] < 3.1 * week["invited"]
        for figure in (
            "cpu_s",
            "engine_cpu_s",
            "setup_s",
            "accepted_per_cpu_s",
            "events_per_cpu_s",
        ):
            assert week[figure] > 0
        assert 100 <= week["mean_stack"] < 200
        assert week["peak_memory_mb"] > 10
    stretch = told["stretch"]
    assert stretch["stacked"]["event_digest"] == stretch["loop"]["event_digest"]
    assert stretch["stacked"]["accepted"] == stretch["loop"]["accepted"]
    assert min(stretch["run_to_loop"], stretch["engine_to_loop"]) > 0
    assert told["bare_events"]["kernel_cpu_s"] > 0
    assert "simpy" in told["bare_events"]
