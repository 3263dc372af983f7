"""Keeping Python's cyclic collector from slowing a run down.

A simulation holds very many objects that stay (tasks, frames, messages), and at its default pace
the collector walks through them again and again to find next to nothing. Inside a run it waits for
a million new objects. So that a few cycles that hold something large do not wait as long, the run
loop sweeps now and then by itself, counted in events and so at the same instants in every run.
"""

import gc
import threading
from collections.abc import Iterator, Sized
from contextlib import contextmanager

_PATIENT = (1_000_000, 20, 20)

_lock = threading.Lock()
_runs = 0
_before = gc.get_threshold()


@contextmanager
def patient_collector() -> Iterator[None]:
    """Make the cyclic collector run less often inside; restore the caller's pace afterwards.

    The collector belongs to the process, so runs in several threads share one change: the first
    makes it and the last one undoes it.
    """
    global _before, _runs
    with _lock:
        if _runs == 0:
            _before = gc.get_threshold()
            if _before[0] != 0:  # 0 means never, which is even more patient
                gc.set_threshold(*map(max, _before, _PATIENT))
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if _runs == 0:
                gc.set_threshold(*_before)


class Sweeper:
    """Collects young cycles every so many events, and old ones every so many times.

    The interval grows with the number of waiting tasks, so that the cost an event stays small.
    """

    __slots__ = ("_left", "_since", "_sweeps")

    EVENTS = 65_536
    WAITING = 8  # events a waiting task
    OLD = 16  # young sweeps to one of everything

    def __init__(self) -> None:
        self._left = self.EVENTS
        self._since = 0
        self._sweeps = 0

    def after(self, events: int, waiting: Sized) -> None:
        """Take note of `events` more events, with so many waiting; collect if it is time."""
        self._since += events
        if self._since < self._left:
            return
        self._left = max(self.EVENTS, self.WAITING * len(waiting))
        if self._since >= self._left and gc.isenabled():
            self._since = 0
            self._sweeps += 1
            gc.collect(1 if self._sweeps % self.OLD else 2)
