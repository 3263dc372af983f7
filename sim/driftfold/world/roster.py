"""Roster: who is there while too few are, without looking at everybody again and again."""

import heapq
from collections.abc import Container, Iterable

import numpy as np

from driftfold.arrays import Ints
from driftfold.participation.base import Attendance

MOST = 1024
"""Clients watched, beyond which they are no longer few."""


class NobodyLeft(Exception):
    """No client will ever be available again: the end of the story, not an error."""


class Roster:
    """Known of everybody who is off: until when. So only few others need be asked.

    Begun at a moment when nobody is there but those on a visit. From then on whoever may be there
    is *watched*: who has come on, and who has come back from a visit. A watched client that is
    found off waits for its next session again.

    Parameters
    ----------
    attendance
        When clients are there.
    idle
        Ids of the clients that are on no visit, shape (k,); all of them are off.
    time
        The present, virtual seconds.
    watched
        Ids of clients that are watched already.

    Examples
    --------
    >>> from driftfold.participation import Always
    >>> from driftfold.fleet import Fleet
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(4, 5), importance=np.full(4, 0.25))
    >>> roster = Roster(Always().attend(fleet), np.array([], dtype=int), 0.0)
    >>> roster.back(2)
    >>> roster.pool(1.0, busy=()).tolist()
    [2]
    """

    def __init__(
        self, attendance: Attendance, idle: Ints, time: float, watched: Iterable[int] = ()
    ) -> None:
        self._attendance = attendance
        times = attendance.next_on(idle, time)
        comes = np.flatnonzero(times < np.inf)
        self._coming = list(zip(times[comes].tolist(), idle[comes].tolist(), strict=True))
        heapq.heapify(self._coming)
        self._watched = set(watched)

    @property
    def crowded(self) -> bool:
        """Whether so many are watched that this is no help any more."""
        return len(self._watched) > MOST

    @property
    def watched(self) -> list[int]:
        """Ids of the clients that are watched, ascending: all that must be remembered of it."""
        return sorted(self._watched)

    @property
    def soonest(self) -> float:
        """When the next client comes on that is off; inf if never."""
        return self._coming[0][0] if self._coming else np.inf

    def back(self, client: int) -> None:
        """Watch a client again that was on a visit."""
        self._watched.add(client)

    def pool(self, time: float, busy: Container[int]) -> Ints:
        """Ids of the clients that are on and not `busy`, ascending."""
        coming, watched = self._coming, self._watched
        while coming and coming[0][0] <= time:
            watched.add(heapq.heappop(coming)[1])
        # Who is on a visit is watched again when it comes back.
        watched.difference_update([client for client in watched if client in busy])
        ids = np.array(self.watched, dtype=np.int64)
        on = self._attendance.available(ids, time)
        off = ids[~on]
        if len(off):
            watched.difference_update(off.tolist())
            times = self._attendance.next_on(off, time)
            for entry in zip(times.tolist(), off.tolist(), strict=True):
                if entry[0] < np.inf:
                    heapq.heappush(coming, entry)
        return ids[on]
