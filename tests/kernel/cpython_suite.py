"""Runs modules of CPython's own asyncio tests on the virtual-time loop; prints what failed.

As in: python cpython_suite.py --lean test_queues test_locks

With --lean, `asyncio.sleep` is replaced by a sleep of the kernel's own.
"""

import asyncio
import importlib
import json
import sys
import unittest
import warnings
from typing import Any

from driftfold.kernel import VirtualLoop, sleep


async def lean_sleep(delay: float, result: Any = None) -> Any:
    """Sleep as `asyncio.sleep` does, by the kernel's own sleep."""
    await sleep(max(0.0, delay))
    return result


def main(arguments: list[str]) -> None:
    """Run the test modules and print one JSON object."""
    warnings.simplefilter("ignore")
    modules = [argument for argument in arguments if argument != "--lean"]
    if "--lean" in arguments:
        asyncio.sleep = asyncio.tasks.sleep = lean_sleep

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> VirtualLoop:
            return VirtualLoop()

    asyncio.set_event_loop_policy(Policy())
    suite = unittest.TestSuite()
    for name in modules:
        module = importlib.import_module(f"test.test_asyncio.{name}")
        # It would put the default policy back in the middle of the run.
        module.tearDownModule = lambda: None  # type: ignore[attr-defined]
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite)
    failed = [test.id() for test, _ in result.failures + result.errors]
    print(json.dumps({"run": result.testsRun, "failed": sorted(failed)}))


if __name__ == "__main__":
    main(sys.argv[1:])
