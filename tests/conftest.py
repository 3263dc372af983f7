"""What holds for all tests."""

import gc
import os

# Asked for before any test uses torch, as driftfold does in a process of its own.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

try:
    from hypothesis import settings
except ImportError:  # the tests of the kernel do without
    pass
else:
    # No example fails because the machine was busy.
    settings.register_profile("driftfold", deadline=None)
    settings.load_profile("driftfold")


def pytest_collection_finish() -> None:
    """Let no collection of garbage walk through all modules and tests, which stay anyway.

    There are millions of such objects: a collection takes a third of a second with them, and the
    kernel asks for one whenever a task has failed.
    """
    gc.collect()
    gc.freeze()
