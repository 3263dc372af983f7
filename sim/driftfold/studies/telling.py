"""Telling how far a cell has come, and when its next snapshot is due, by the wall clock."""

from collections.abc import Callable
from time import monotonic

from driftfold.telemetry.base import Record, RecordSink

SNAPSHOT_EVERY = 10.0  # seconds of work that a kill may cost
TELL_EVERY = 0.3  # seconds between two words about progress

Tell = Callable[[int], None]
"""Takes the number of rounds done."""


class Telling(RecordSink):
    """Tells the rounds now and then.

    >>> told = []
    >>> telling = Telling(told.append, every=0.0)
    >>> telling.emit(Record(1, "round", 0.0, 7))
    >>> told, telling.snapshot_due()
    ([7], False)
    """

    def __init__(self, tell: Tell, every: float = TELL_EVERY) -> None:
        self._tell = tell
        self._every = every
        self._told = self._saved = monotonic()

    def emit(self, record: Record) -> None:
        """Tell the rounds done, if it is time to."""
        now = monotonic()
        if now - self._told >= self._every:
            self._tell(record.version)
            self._told = now

    def snapshot_due(self) -> bool:
        """Whether to take a snapshot now."""
        now = monotonic()
        due = now - self._saved >= SNAPSHOT_EVERY
        if due:
            self._saved = now
        return due
