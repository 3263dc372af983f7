"""CPython's own tests of asyncio's primitives pass on the virtual-time loop."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = ["test_queues", "test_locks", "test_timeouts", "test_taskgroups", "test_waitfor"]

# Tests that fail here for a reason: name -> why. There are none.
DEVIATIONS: dict[str, str] = {}


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("test") is None
    or importlib.util.find_spec("test.test_asyncio") is None,
    reason="this Python came without its own tests",
)
def test_cpython_s_own_tests_of_the_primitives() -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("cpython_suite.py")), *MODULES],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    print(f"{result['run']} tests of CPython {sys.version.split()[0]}")
    assert result["run"] > 150
    assert result["failed"] == sorted(DEVIATIONS)
