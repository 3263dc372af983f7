"""The queue of later events: two levels, and first in first out within an instant.

Few events wait in one heap. Many wait in *buckets* of equal width in time: appending to a bucket
is cheap, and a bucket is sorted once, when its turn comes. Sorting is stable and a bucket is filled
in the order of scheduling, so ties keep that order without a sequence number. Events that fall
into the bucket already opened go to the heap; they were all scheduled later than what the opened
bucket held, so on a tie the opened bucket goes first.

The width follows the density of events: see `adapt`.
"""

from heapq import heappop, heappush
from itertools import chain
from math import isfinite
from operator import attrgetter

from driftfold.kernel.handle import Parked, Timer
from driftfold.kernel.sleeper import Sleeper

Entry = Timer | Parked | Sleeper

_when = attrgetter("_when")
_FOREVER = float("inf")


class EventQueue:
    """Events by time; the run loop takes from `due` and `near` and appends to `buckets` itself."""

    __slots__ = (
        "buckets", "current", "dead", "due", "forever", "near", "opened", "order", "pushed",
        "pushed_before", "quiet", "scale", "seen", "widest",
    )  # fmt: skip

    HEAP = 512  # more than this many events in the heap: use buckets
    BUCKET = 64  # events that a bucket should hold
    LOOK = 1024  # events between two looks at how the width suits them

    def __init__(self) -> None:
        self.near: list[tuple[float, int, Entry]] = []  # heap: time, order of scheduling, event
        self.due: list[Entry] = []  # the opened bucket, soonest last
        self.buckets: dict[float, list[Entry]] = {}
        self.order: list[float] = []  # heap: numbers of the buckets
        self.scale = 0.0  # an event at time t is in bucket floor(t * scale); 0 means one heap
        self.current = 0.0  # number of the opened bucket
        self.forever: dict[int, Entry] = {}  # events at infinity, which never come, by id()
        self.dead = 0  # cancelled events that still wait in the queue
        self.pushed = 0  # pushes to the heap so far: their order of scheduling
        self.pushed_before = 0  # pushes at the last look
        self.seen = 0  # events since the last look
        self.opened = 0  # buckets opened since the last look
        self.widest = 0  # and the size of the largest of them
        self.quiet = 0  # events to go before the width may change again

    def push(self, entry: Entry) -> None:
        """File an event that is later than the present."""
        number = entry._when * self.scale // 1.0
        if number > self.current:
            bucket = self.buckets.get(number)
            if bucket is None:
                self.buckets[number] = [entry]
                heappush(self.order, number)
            else:
                bucket.append(entry)
        elif number <= self.current:
            self.pushed += 1
            heappush(self.near, (entry._when, self.pushed, entry))
        else:
            self.push_far(entry)

    def push_far(self, entry: Entry) -> None:
        """File an event whose bucket number is too large for a float."""
        if entry._when == _FOREVER:
            self.forever[id(entry)] = entry
        elif self.current == _FOREVER:
            self.pushed += 1
            heappush(self.near, (entry._when, self.pushed, entry))
        elif _FOREVER in self.buckets:
            self.buckets[_FOREVER].append(entry)
        else:
            self.buckets[_FOREVER] = [entry]
            heappush(self.order, _FOREVER)

    def refill(self) -> bool:
        """Open the next bucket once `due` and `near` are empty; False if there is none."""
        if not self.order:
            return False
        self.current = heappop(self.order)
        bucket = self.buckets.pop(self.current)
        bucket.sort(key=_when)
        bucket.reverse()
        self.due[:] = bucket
        self.opened += 1
        if len(bucket) > self.widest:
            self.widest = len(bucket)
        return True

    def next_time(self) -> float | None:
        """Time of the next event, or None if nothing is scheduled."""
        while self.due and _is_dead(self.due[-1]):
            self.due.pop()
            self.dead -= 1
        while self.near and _is_dead(self.near[0][2]):
            heappop(self.near)
            self.dead -= 1
        if self.due or self.near:
            return min(
                self.due[-1]._when if self.due else _FOREVER,
                self.near[0][0] if self.near else _FOREVER,
            )
        while self.order:
            alive = [entry._when for entry in self.buckets[self.order[0]] if not _is_dead(entry)]
            if alive:
                return min(alive)
            self.dead -= len(self.buckets.pop(heappop(self.order)))
        return None

    def forget(self, entry: Entry) -> None:
        """Count an event that was cancelled while it waits."""
        if self.forever.pop(id(entry), None) is None:
            self.dead += 1

    def adapt(self, now: float, events: int) -> None:
        """Choose the levels and the width anew if they did not suit the last events.

        Filing everything anew costs as much as there are events waiting, so it is done at most
        once in as many events.
        """
        self.seen += events
        if self.seen < self.LOOK:
            return
        wide = self.pushed - self.pushed_before > self.seen / 4 or self.widest > 16 * self.BUCKET
        narrow = self.opened > 4 * self.seen / self.BUCKET
        unsuited = (wide or narrow) if self.scale else len(self.near) > self.HEAP
        self.quiet -= self.seen
        self.seen = self.opened = self.widest = 0
        self.pushed_before = self.pushed
        more_dead_than_alive = self.dead > 1000 and self.dead > len(self)
        if (unsuited and self.quiet <= 0) or more_dead_than_alive:
            self._file_anew(now)

    def __len__(self) -> int:
        waiting = len(self.near) + len(self.due) + len(self.forever)
        return waiting + sum(map(len, self.buckets.values())) - self.dead

    def _file_anew(self, now: float) -> None:
        # Equal times are all in one bucket or in due, then near, so this order keeps ties in order.
        near = sorted(self.near)
        waiting = [
            entry
            for entry in chain(
                reversed(self.due), (item[2] for item in near), *self.buckets.values()
            )
            if not _is_dead(entry)
        ]
        self.dead = 0
        self.near.clear()
        self.due.clear()
        self.buckets.clear()
        self.order.clear()
        self.quiet = len(waiting)
        self.scale = self._suitable_scale(waiting)
        self.current = now * self.scale // 1.0
        if not isfinite(self.current):
            self.scale = self.current = 0.0
        for entry in waiting:
            self.push(entry)

    def _suitable_scale(self, waiting: list[Entry]) -> float:
        """Return the buckets per second for the density of the sooner half of the events."""
        if len(waiting) <= self.HEAP // 2:
            return 0.0
        sample = sorted(map(_when, waiting[:: 1 + len(waiting) // 1000]))
        share = len(sample) // 2
        while share < len(sample) - 1 and sample[share] == sample[0]:
            share = (share + len(sample)) // 2
        span: float = sample[share] - sample[0]
        if span <= 0.0:
            return 0.0  # all at one instant: width does not matter
        events = len(waiting) * share / len(sample)
        return events / self.BUCKET / span


def _is_dead(entry: Entry) -> bool:
    if type(entry) is Sleeper:
        return not entry.alive
    return entry.task is None and entry._cancelled
