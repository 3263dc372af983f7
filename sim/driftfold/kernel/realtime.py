"""Pacing a virtual-time loop against the wall clock."""

import time

_LONGEST = 3600.0  # time.sleep refuses waits of very many years


class Pacer:
    """Holds virtual time back to `rate` virtual seconds a second of wall time.

    A loop that falls behind (its own work takes longer than the clock allows) catches up as fast
    as it can.
    """

    __slots__ = ("_rate", "_virtual", "_wall")

    def __init__(self, rate: float) -> None:
        if not 0.0 < rate < float("inf"):
            raise ValueError(
                f"realtime got {rate!r}; it must be the virtual seconds a wall second, "
                "a positive finite number, or None to run as fast as possible"
            )
        self._rate = rate
        self._virtual: float | None = None
        self._wall = 0.0

    def wait_until(self, virtual: float, now: float) -> None:
        """Block until virtual time `virtual` is due; the first call, at `now`, starts the clock."""
        if self._virtual is None:
            self._virtual = now
            self._wall = time.monotonic()
        due = self._wall + (virtual - self._virtual) / self._rate
        while (left := due - time.monotonic()) > 0.0:
            time.sleep(min(left, _LONGEST))
