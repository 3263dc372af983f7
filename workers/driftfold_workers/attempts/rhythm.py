"""Rhythm: when the process of an attempt takes snapshots, by the wall clock."""

import time
from collections.abc import Callable

EVERY = 2.0  # seconds of work that a kill may cost
SHARE = 0.05  # of the time may go into snapshots, at most


class Rhythm:
    """Says when the next snapshot is due, so that neither the work at risk nor the cost is large.

    Rounds take from a millisecond to minutes, so a number of rounds would suit few jobs. When
    snapshots are taken changes no number of a run.

    >>> ticks = iter([0.0, 1.0, 2.5, 2.5, 3.0, 4.0, 13.0])
    >>> rhythm = Rhythm(clock=lambda: next(ticks))
    >>> rhythm.due(), rhythm.due()  # at 1.0 and at 2.5
    (False, True)
    >>> rhythm.saving(), rhythm.saved()  # from 2.5 to 3.0, so the next is due ten seconds later
    (None, None)
    >>> rhythm.due(), rhythm.due()  # at 4.0 and at 13.0
    (False, True)
    """

    def __init__(self, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self._clock = clock
        self._began = clock()
        self._next = self._began + every

    def due(self) -> bool:
        """Whether to take a snapshot now."""
        return self._clock() >= self._next

    def saving(self) -> None:
        """Take note that a snapshot is about to be taken, for whatever reason."""
        self._began = self._clock()

    def saved(self) -> None:
        """Take note that it is stored."""
        now = self._clock()
        self._next = now + max(self._every, (now - self._began) / SHARE)
