"""A place in the feed of one job: what a follower is told next."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from driftfold_api import frames
from driftfold_api.feed import PAGE, Feed
from driftfold_workers.jobs.store import Jobs, StoreError, Trimmed, UnknownJob


@dataclass(frozen=True, slots=True)
class Part:
    """Frames to send: those of records that follow one another, or one of something else."""

    name: Literal["records", "lifecycle", "waiting", "gap", "end"]
    frames: Sequence[bytes]


class Track:
    """How far one follower has come in one feed. A number is all that it costs to be behind.

    Attributes
    ----------
    job
        Id of the job.
    after, lifecycle_after
        Numbers of the last record and of the last lifecycle event that were told.
    over
        Whether the end was told.
    """

    def __init__(
        self,
        feed: Feed,
        store: Jobs,
        after: int,
        lifecycle_after: int,
        heard: Callable[["Track"], None],
    ) -> None:
        self.job = feed.job
        self.feed = feed
        self.after = after
        self.lifecycle_after = lifecycle_after
        self.over = False
        self._store = store
        self._heard = heard
        self._events = 0
        self._waiting: bytes | None = None

    def hear(self) -> None:
        """Take note that there may be more to tell."""
        self._heard(self)

    @property
    def behind(self) -> bool:
        """Whether the next records are no more in the feed, so that `page` has to read them."""
        return not self.over and self.feed.begun and self.feed.behind(self.after)

    def next(self) -> Part | None:
        """Return what comes next, lifecycle events in their places between the records.

        None when there is nothing now, or when it is `behind`. It never waits: most of what is ever
        told passes here, once for each who follows.
        """
        feed, until = self.feed, math.inf
        if self.over:
            return None
        # What happened before the first record must come before it: the feed reads it first.
        if feed.begun:
            while self._events < len(feed.events):
                event = feed.events[self._events]
                if event.at > self.after:
                    until = event.at
                    break
                self._events += 1
                if event.number > self.lifecycle_after:
                    self.lifecycle_after = event.number
                    return Part("lifecycle", [event.frame])
            if feed.behind(self.after):
                return None
            if self.after < min(until, feed.last):
                found = feed.since(self.after, until)
                self.after += len(found)
                return Part("records", found)
        if feed.end is not None:
            return self._end(feed.end)
        if feed.begun and feed.waiting is not self._waiting:
            self._waiting = feed.waiting
            if feed.waiting is not None:
                return Part("waiting", [feed.waiting])
        return None

    async def page(self) -> Part:
        """Return records from the store, or which of them nobody has any more.

        Raises `StoreError` while the store cannot be read.
        """
        ahead = self.feed.events[self._events : self._events + 1]
        until = min([self.feed.last, *(event.at for event in ahead)])
        limit = min(PAGE, until - self.after)
        try:
            records = await self._store.read(self.job, after=self.after, limit=limit)
        except UnknownJob:
            return self._end(frames.end(self.job, "deleted", "", self.feed.last))
        except Trimmed as trimmed:
            lost = frames.gap(self.job, self.after + 1, trimmed.first - 1)
            self.after = trimmed.first - 1
            return Part("gap", [lost])
        if not records:
            raise StoreError(f"record {self.after + 1} of job {self.job} cannot be read now")
        first = self.after + 1
        self.after += len(records)
        return Part("records", [frames.record(first + at, text) for at, text in enumerate(records)])

    def _end(self, frame: bytes) -> Part:
        self.over = True
        return Part("end", [frame])
