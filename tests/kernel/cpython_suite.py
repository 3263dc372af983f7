"""Runs modules of CPython's own asyncio tests on the virtual-time loop; prints what failed.

python cpython_suite.py test_queues test_locks
"""

import asyncio
import importlib
import json
import sys
import unittest
import warnings

from driftfold.kernel import VirtualLoop


def main(modules: list[str]) -> None:
    """Run the test modules and print one JSON object."""
    warnings.simplefilter("ignore")

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
