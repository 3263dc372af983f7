"""How long a client tries: what is worth another try, when, and what is said meanwhile."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from driftfold_api.errors import Unreachable

TRANSIENT = (502, 503, 504)
FIRST, LONGEST = 0.1, 2.0  # seconds between two tries
SILENCE = 45.0  # seconds without even a ping after which a stream is broken
CONNECT_WITHIN = 2.0  # seconds: who is there answers at once; a try that was lost is repeated
TELL_AFTER = 1.0  # seconds of waiting after which it is said what for


@dataclass
class Patience:
    """Counts the seconds in which the service was asked in vain.

    >>> times = iter([0.0, 0.0, 0.4, 1.0])
    >>> patience = Patience("http://localhost:1", 1.0, print, clock=lambda: next(times))
    >>> patience.asks()
    >>> patience.pause(OSError("refused"))
    0.1
    >>> patience.pause(OSError("refused"))
    0.2
    >>> patience.pause(OSError("refused"))
    Traceback (most recent call last):
    driftfold_api.errors.Unreachable: no answer from http://localhost:1 for 1 s (refused); ...

    Attributes
    ----------
    url
        Address of the service.
    seconds
        How long to try; infinity never gives up.
    tell
        Is given a sentence when the wait becomes long, and another one when it is over.
    """

    url: str
    seconds: float
    tell: Callable[[str], None] | None = None
    clock: Callable[[], float] = time.monotonic
    _since: float | None = None
    _tries: int = 0
    _told: bool = False

    def asks(self) -> None:
        """Take note that the service is asked now."""
        if self._since is None:
            self._since = self.clock()

    def answered(self) -> None:
        """Begin anew: the service answers."""
        if self._told and self.tell is not None:
            self.tell(f"{self.url} answers again")
        self._since, self._tries, self._told = None, 0, False

    @property
    def waited(self) -> float:
        """Seconds since it was first asked in vain."""
        return 0.0 if self._since is None else self.clock() - self._since

    @property
    def over(self) -> bool:
        """Whether it has been asked in vain for long enough."""
        return self.waited >= self.seconds

    def pause(self, error: object) -> float:
        """Return the seconds to wait before the next try, or raise `Unreachable`."""
        self.asks()
        waited = self.waited
        if waited >= self.seconds:
            raise self.give_up(error, waited)
        wait = min(FIRST * 2.0**self._tries, LONGEST, max(self.seconds - waited, FIRST))
        self._tries = min(self._tries + 1, 10)
        if waited + wait >= TELL_AFTER:
            self.say(error)
        return wait

    def say(self, error: object = None) -> None:
        """Say once what is waited for: for an answer, or after an error for a better one."""
        if self.tell is not None and not self._told:
            self._told = True
            long = f"for {self.seconds:g} s" if self.seconds < math.inf else "until it answers"
            why = "" if error is None else f" ({_words(error)}); trying {long}"
            self.tell(f"waiting for {self.url}{why}")

    def give_up(self, error: object, waited: float | None = None) -> Unreachable:
        """Return the error that says so."""
        long = round(self.waited if waited is None else waited, 1)
        return Unreachable(
            f"no answer from {self.url} for {long:g} s ({_words(error)}); start the service with "
            "`driftfold serve`, or give its address with --url or DRIFTFOLD_URL"
        )


def stream_timeout(timeout: float) -> httpx.Timeout:
    """Return the timeouts of a stream, which may be silent for a while."""
    return httpx.Timeout(timeout, read=SILENCE, connect=min(timeout, CONNECT_WITHIN))


def worth_another_try(error: httpx.TransportError, repeatable: bool) -> bool:
    """Whether a request may be sent again: it never arrived, or repeating it does no harm."""
    return repeatable or isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)


def _words(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__
