"""What holds for all tests."""

import gc
import os
import signal

# A shell has what it starts in the background ignore Ctrl-C, and children inherit that; tests that
# interrupt commands are about commands that somebody sees.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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


# What is imported and collected stays: to look for garbage in it takes a third of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """Let no collection of garbage walk through all modules and tests, which stay anyway.

    There are millions of such objects: a collection takes a third of a second with them, and the
    kernel asks for one whenever a task has failed.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
