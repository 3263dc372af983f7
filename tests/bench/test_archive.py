"""The benchmark of the archive runs, and tells what readers look for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_quick_prints_every_figure() -> None:
    command = [sys.executable, "-m", "bench.archive", "--quick"]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=300)
    told = json.loads(ended.stdout)
    assert told["accept"]["one_ms"] > 0
    assert told["accept"]["jobs_per_second_20_at_once"] > 0
    assert told["record"]["rows"] == 5000
    assert told["record"]["rows_per_second"] > 0
