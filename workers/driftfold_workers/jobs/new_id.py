"""Ids of jobs: they sort by the time of submission, and so do jobs."""

import secrets
import threading
import time
import uuid
from collections.abc import Callable

START = 1_700_000_000_000  # ms of Unix time: numbers count from here, to be exact in a double


class Ids:
    """Makes UUIDs of version 7 (RFC 9562), each after the one before.

    The twelve bits after the milliseconds count within one: the standard's method 1.

    >>> ids = Ids(clock=lambda: 1_800_000_000_000_000_000)
    >>> first, second = ids.next(), ids.next()
    >>> first < second, number_of(second) > number_of(first)
    (True, True)
    """

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> str:
        """Return a new id."""
        with self._lock:
            # The count begins at random, below half, so that two processes hardly meet.
            fresh = (self._clock() // 1_000_000) << 12 | secrets.randbits(11)
            self._last = max(fresh, self._last + 1)
            milliseconds, count = self._last >> 12, self._last & 0xFFF
        bits = (milliseconds << 80) | (7 << 76) | (count << 64) | (0b10 << 62)
        return str(uuid.UUID(int=bits | secrets.randbits(62)))


new_id = Ids().next
"""The id of a new job, after all that this process has made."""


def number_of(job: str) -> int:
    """Return the place of a job among all: the first part of its id, exact in a double.

    >>> number_of("018bcfe5-6800-7001-8000-000000000000")
    1
    """
    bits = uuid.UUID(job).int
    return (((bits >> 80) - START) << 12) | ((bits >> 64) & 0xFFF)


def made(job: str) -> float:
    """Return the Unix time at which an id was made, in seconds, by the clock of its maker.

    >>> made("018bcfe5-6800-7001-8000-000000000000")
    1700000000.0
    """
    return created_of(number_of(job))


def is_id(text: str) -> bool:
    """Return whether a text has the form of a job's id.

    >>> is_id("01900000-0000-7000-8000-000000000000"), is_id("../../x"), is_id("")
    (True, False, False)
    """
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def created_of(number: float) -> float:
    """Return the Unix time at which the job with a number was made.

    >>> created_of(number_of("018bcfe5-6800-7001-8000-000000000000"))
    1700000000.0
    """
    return ((int(number) >> 12) + START) / 1000
