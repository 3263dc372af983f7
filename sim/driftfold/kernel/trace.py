"""The running digest of a run's own events, by which two runs are compared."""

import hashlib
import sys
from array import array


class EventTrace:
    """BLAKE2b-128 over (time, key) of every event, in the order they fired.

    An event is packed as a little-endian float64 time and a little-endian uint64 key. Events are
    gathered and hashed in blocks; where the blocks are cut does not change the digest.

    >>> trace = EventTrace()
    >>> trace.add(0.5, 7)
    >>> trace.count, trace.digest()
    (1, '3bd18bcd18f9e5c6dbce4c0d8e5c1ac7')
    """

    __slots__ = ("_hash", "_hashed", "keys", "times")

    BLOCK = 4096

    def __init__(self) -> None:
        # The run loop appends to these two lists directly: a method call an event costs too much.
        self.times: list[float] = []
        self.keys: list[int] = []
        self._hash = hashlib.blake2b(digest_size=16)
        self._hashed = 0

    def add(self, time: float, key: int) -> None:
        """Add one event."""
        self.times.append(time)
        self.keys.append(key)
        if len(self.times) >= self.BLOCK:
            self.flush()

    @property
    def count(self) -> int:
        """How many events there were so far."""
        return self._hashed + len(self.times)

    def flush(self) -> None:
        """Hash the events gathered so far."""
        events = array("Q", bytes(16 * len(self.times)))
        events[0::2] = array("Q", array("d", self.times).tobytes())
        events[1::2] = array("Q", self.keys)
        if sys.byteorder == "big":
            events.byteswap()
        self._hash.update(events)
        self._hashed += len(self.times)
        self.times.clear()
        self.keys.clear()

    def digest(self) -> str:
        """Hexadecimal digest of all events so far; more may follow."""
        self.flush()
        return self._hash.hexdigest()
