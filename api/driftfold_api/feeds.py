"""The feeds of all jobs that somebody follows, and who follows them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from driftfold_api.feed import Feed
from driftfold_workers.job import Job
from driftfold_workers.stopping import stopped
from driftfold_workers.store import Jobs

BEAT = 15.0  # seconds between two signs of life on a stream that has nothing to tell
SEND_WITHIN = 60.0  # seconds after which a reader that takes nothing is let go


@dataclass(eq=False)
class Follower:
    """One client of a feed.

    Attributes
    ----------
    feed
        What it follows.
    task
        Sends to it.
    sending
        Since when the present write lasts, by the loop's clock; None between writes.
    """

    feed: Feed
    task: asyncio.Task[None]
    sending: float | None = None


class Feeds:
    """Makes a feed when its first follower comes, and ends it when the last has left.

    One timer serves all streams: a timeout for each write would cost as much as the write.
    """

    def __init__(self, store: Jobs) -> None:
        self._store = store
        self._feeds: dict[str, Feed] = {}
        self._followers: dict[Feed, set[Follower]] = {}
        self._closing = False
        self._timer: asyncio.TimerHandle | None = None
        self.sent = 0
        """Events sent to all followers there ever were."""

    @property
    def followed(self) -> int:
        """Jobs that somebody follows."""
        return len(self._feeds)

    @property
    def followers(self) -> int:
        """Streams that are open."""
        return sum(map(len, self._followers.values()))

    @asynccontextmanager
    async def follow(self, job: Job, task: asyncio.Task[None]) -> AsyncIterator[Follower]:
        """Follow a job until the block is left. `task` is canceled when its client stalls."""
        feed = self._feeds.get(job.id)
        if feed is None:
            feed = self._feeds[job.id] = Feed(self._store, job)
            feed.closing = self._closing
            self._followers[feed] = set()
        follower = Follower(feed, task)
        self._followers[feed].add(follower)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BEAT, self._beat)
        try:
            yield follower
        finally:
            self._followers[feed].discard(follower)
            if not self._followers[feed]:
                del self._followers[feed], self._feeds[job.id]
                await stopped(feed.task)

    def close(self) -> None:
        """Tell every follower that the server stops."""
        self._closing = True
        for feed in self._feeds.values():
            feed.closing = True
            feed.wake()

    def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(BEAT, self._beat) if self._feeds else None
        for feed, followers in self._followers.items():
            feed.beat()
            for follower in followers:
                since = follower.sending
                if since is not None and loop.time() - since > SEND_WITHIN:
                    follower.task.cancel()  # once more at each beat until it has gone
