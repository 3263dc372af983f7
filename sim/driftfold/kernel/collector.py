"""Keeping Python's cyclic collector from slowing a run down."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# A simulation holds very many objects that stay (tasks, frames), and the collector's default pace
# walks through them again and again. Waiting for more new objects between walks costs a bounded
# amount of memory: cycles are still found, later.
_PATIENT = (50_000, 20, 20)

_lock = threading.Lock()
_patient = 0
_before = gc.get_threshold()


@contextmanager
def patient_collector() -> Iterator[None]:
    """Make the cyclic collector run less often inside; restore the caller's pace afterwards.

    The collector belongs to the process, so runs in several threads share one change: the first
    makes it and the last one undoes it.
    """
    global _before, _patient
    with _lock:
        if _patient == 0:
            _before = gc.get_threshold()
            if _before[0] != 0:  # 0 means never, which is even more patient
                gc.set_threshold(*map(max, _before, _PATIENT))
        _patient += 1
    try:
        yield
    finally:
        with _lock:
            _patient -= 1
            if _patient == 0:
                gc.set_threshold(*_before)
