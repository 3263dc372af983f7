"""How long a server has been up at least, whatever its clock was set to meanwhile."""

import time
from collections.abc import Callable, Mapping
from typing import Any


class ServerAge:
    """Knows a server's age from what it says and from when it was first met.

    A server counts from its wall clock: one that was set back tells an age that is too small, or
    less than nothing, for as long as it was set back.

    >>> ticks = iter([100.0, 104.0, 105.0])
    >>> age = ServerAge(clock=lambda: next(ticks))
    >>> age.at_least({"run_id": "a", "uptime_in_seconds": 61})  # whole seconds, up to one too many
    60.0
    >>> age.at_least({"run_id": "a", "uptime_in_seconds": -3535})
    4.0
    >>> age.at_least({"run_id": "b", "uptime_in_seconds": 0})  # it was restarted
    0.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._met: tuple[str, float] = ("", 0.0)

    def at_least(self, facts: Mapping[str, Any]) -> float:
        """Return seconds, given the server's own facts about itself (INFO server)."""
        now, run = self._clock(), str(facts["run_id"])
        if run != self._met[0]:
            self._met = (run, now)
        return max(float(facts["uptime_in_seconds"]) - 1.0, now - self._met[1])
