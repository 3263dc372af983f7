"""CPython's own tests of asyncio's primitives pass on the virtual-time loop."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

PRIMITIVES = ["test_queues", "test_locks", "test_timeouts", "test_taskgroups", "test_waitfor"]
MODULES = [*PRIMITIVES, "test_tasks", "test_runners", "test_pep492"]

# Tests that fail here for a reason: another thread calls in, which virtual time refuses.
THREADS = "test.test_asyncio.test_tasks.RunCoroutineThreadsafeTests"
DEVIATIONS = {
    f"{THREADS}.test_run_coroutine_threadsafe",
    f"{THREADS}.test_run_coroutine_threadsafe_task_cancelled",
    f"{THREADS}.test_run_coroutine_threadsafe_task_factory_exception",
    f"{THREADS}.test_run_coroutine_threadsafe_with_exception",
    f"{THREADS}.test_run_coroutine_threadsafe_with_timeout",
}


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("test") is None
    or importlib.util.find_spec("test.test_asyncio") is None,
    reason="this Python came without its own tests",
)
@pytest.mark.parametrize(
    ("arguments", "deviations"), [(MODULES, DEVIATIONS), (["--lean", *PRIMITIVES], set())]
)
def test_cpython_s_own_tests(arguments: list[str], deviations: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("cpython_suite.py")), *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    print(f"{result['run']} tests of CPython {sys.version.split()[0]}")
    assert result["run"] > 150
    assert result["failed"] == sorted(deviations)
