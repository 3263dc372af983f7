"""How long a client tries: what is worth another try, and when."""

from dataclasses import dataclass

import httpx

from driftfold_api.errors import Unreachable

TRANSIENT = (502, 503, 504)
FIRST, LONGEST = 0.1, 2.0  # seconds between two tries
SILENCE = 45.0  # seconds without even a ping after which a stream is broken


@dataclass
class Patience:
    """Counts the seconds that were waited for the service since it last answered.

    >>> patience = Patience("http://localhost:1", 1.0)
    >>> [patience.pause(OSError("refused")) for _ in range(3)]
    [0.1, 0.2, 0.4]
    >>> patience.pause(OSError("refused")) <= 1.0
    True
    >>> patience.pause(OSError("refused"))
    Traceback (most recent call last):
    driftfold_api.errors.Unreachable: no answer from http://localhost:1 within 1 s (refused); ...
    """

    url: str
    seconds: float
    waited: float = 0.0
    tries: int = 0

    def answered(self) -> None:
        """Begin anew: the service answers."""
        self.waited, self.tries = 0.0, 0

    def pause(self, error: object) -> float:
        """Return the seconds to wait before the next try, or raise `Unreachable`."""
        if self.waited >= self.seconds:
            raise self.give_up(error)
        wait = min(FIRST * 2.0**self.tries, LONGEST, max(self.seconds - self.waited, FIRST))
        self.waited += wait
        self.tries += 1
        return wait

    def give_up(self, error: object) -> Unreachable:
        """Return the error that says so."""
        words = " ".join(str(error).split()) or type(error).__name__
        return Unreachable(
            f"no answer from {self.url} within {self.seconds:g} s ({words}); start the service "
            "with `driftfold serve`, or give its address with --url or DRIFTFOLD_URL"
        )


def stream_timeout(timeout: float) -> httpx.Timeout:
    """Return the timeouts of a stream, which may be silent for a while."""
    return httpx.Timeout(timeout, read=SILENCE)


def worth_another_try(error: httpx.TransportError, repeatable: bool) -> bool:
    """Whether a request may be sent again: it never arrived, or repeating it does no harm."""
    return repeatable or isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
