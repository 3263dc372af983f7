"""The live end of a job's log: read and encoded once, whoever many follow it.

A follower is a position, not a queue, so a slow one costs nothing and slows nobody. One that has
fallen behind what is kept here reads the store until it has caught up.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from driftfold_api import frames
from driftfold_workers.jobs.job import Job, LifecycleEvent, News, State
from driftfold_workers.jobs.store import Jobs, StoreError, UnknownJob

KEPT = 2**20  # bytes of frames kept for a job that somebody follows
BACKLOG = 500  # records before the present end that a new feed reads, for its first followers
PAGE = 500
CHUNK = 64 * 1024  # bytes: what one write hands to the network
WAIT = 5.0  # seconds between two looks at what a queued job waits for
RETRY = 0.5  # seconds before the store is asked again after a failure


@dataclass(frozen=True)
class Told:
    """A lifecycle event: its number, the number of the record it followed, its frame."""

    number: int
    at: int
    frame: bytes


class Feed:
    """What followers of one job are told; `listeners` are called when there may be more.

    The events among the records up to `last` are all in `events` once it has `begun`.
    """

    def __init__(self, store: Jobs, job: Job) -> None:
        self._store = store
        self.job = job.id
        self._kept: deque[bytes] = deque()
        self._size = 0
        self._events_seen = 0
        self._waits_for: object = None
        self.last = max(0, job.seq - BACKLOG)
        self.events: list[Told] = []
        self.waiting: bytes | None = None
        self.end: bytes | None = None
        self.begun = False
        self.listeners: set[Callable[[], None]] = set()
        self.task = asyncio.create_task(self._run(), name=f"feed of job {job.id}")

    def behind(self, after: int) -> bool:
        """Return whether a follower at `after` must read the store to go on."""
        return after < self.last - len(self._kept)

    def since(self, after: int, until: float) -> list[bytes]:
        """Return the frames of records after number `after`, about a `CHUNK` at most."""
        at = after - (self.last - len(self._kept))
        found, size = [], 0
        for frame in islice(self._kept, at, at + int(min(self.last, until)) - after):
            found.append(frame)
            size += len(frame)
            if size >= CHUNK:
                break
        return found

    async def _run(self) -> None:
        while self.end is None:
            try:
                news = await self._store.news(
                    self.job,
                    after=self.last,
                    events_after=self._events_seen,
                    limit=PAGE,
                    wait=WAIT,
                )
                self._take(news)
                await self._explain(news.state)
            except UnknownJob:
                self.end = frames.end(self.job, "deleted", "", self.last)
            except StoreError:  # it comes back, or the followers leave
                await asyncio.sleep(RETRY)
        self._wake()

    def _take(self, news: News) -> None:
        """Take in what is new, events before the records and the end that follow them."""
        self._take_events(news.events)
        more = len(news.events) == PAGE
        # Events of the next page may belong before records of this one.
        until = _place(news.events[-1]) if more else math.inf
        for record in news.records:
            if self.last >= until:
                break
            self.last += 1
            self._keep(frames.record(self.last, record))
        self.begun = self.begun or not more
        if news.state.final and self.last >= news.seq and not more:
            self.end = frames.end(self.job, news.state, news.reason, news.seq)
        if news.records or news.events:
            self._wake()

    def _take_events(self, events: Sequence[LifecycleEvent]) -> None:
        for event in events:
            self._events_seen = event.number
            if event.kind != "checkpoint":  # as many as rounds, perhaps; /lifecycle has them
                self.events.append(Told(event.number, _place(event), frames.lifecycle(event)))

    async def _explain(self, state: State) -> None:
        """Learn what a queued job waits for; no event tells that a worker left."""
        if state is not State.QUEUED:
            self._waits_for, self.waiting = None, None
            return
        job = await self._store.get(self.job)
        # Of a pause the reason tells the rest, which is less each time.
        waits_for = job.due or job.reason or None
        if job.state is State.QUEUED and waits_for != self._waits_for:
            self._waits_for = waits_for
            self.waiting = frames.waiting(job)
            self._wake()

    def _wake(self) -> None:
        for heard in self.listeners:
            heard()

    def _keep(self, frame: bytes) -> None:
        self._kept.append(frame)
        self._size += len(frame)
        while self._size > KEPT and len(self._kept) > 1:
            self._size -= len(self._kept.popleft())


def _place(event: LifecycleEvent) -> int:
    """Return the number of the record that an event followed."""
    return int(event.facts.get("seq", 0))
