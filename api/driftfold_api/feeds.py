"""The feeds of all jobs that somebody follows, and who follows them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from driftfold_api.feed import Feed
from driftfold_api.follower import Address, Follower
from driftfold_api.track import Track
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import Jobs
from driftfold_workers.stopping import stopped

BEAT = 15.0  # seconds between two signs of life on a stream that has nothing to tell
SEND_WITHIN = 60.0  # seconds after which a reader that takes nothing is let go


class Feeds:
    """Makes a feed when its first follower comes, and ends it when the last has left.

    One timer serves all streams: a timeout for each write would cost as much as the write.
    """

    def __init__(self, store: Jobs) -> None:
        self.store = store
        self._feeds: dict[str, Feed] = {}
        self._followers: set[Follower] = set()
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
        return len(self._followers)

    @asynccontextmanager
    async def following(
        self, task: asyncio.Task[None], client: Address | None = None
    ) -> AsyncIterator[Follower]:
        """Be a follower until the block is left. `task` is canceled when its client stalls."""
        follower = Follower(task, client)
        follower.closing = self._closing
        self._followers.add(follower)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BEAT, self._beat)
        try:
            yield follower
        finally:
            self._followers.discard(follower)
            for track in [*follower.tracks.values()]:
                await self.leave(follower, track)

    def join(self, follower: Follower, job: Job, after: int = 0, lifecycle_after: int = 0) -> Track:
        """Let a follower have a place in the feed of a job."""
        feed = self._feeds.get(job.id)
        if feed is None:
            feed = self._feeds[job.id] = Feed(self.store, job)
        track = Track(feed, self.store, after, lifecycle_after, follower.hear)
        follower.tracks[job.id] = track
        feed.listeners.add(track.hear)
        track.hear()
        return track

    async def leave(self, follower: Follower, track: Track) -> None:
        """Give a place up."""
        del follower.tracks[track.job]
        feed = track.feed
        feed.listeners.discard(track.hear)
        if not feed.listeners and self._feeds.get(track.job) is feed:
            del self._feeds[track.job]
            await stopped(feed.task)

    def stalled(self) -> set[Address]:
        """Return the addresses of clients that have not taken yet what is sent to them."""
        waiting = (one.client for one in self._followers if one.sending is not None)
        return {client for client in waiting if client is not None}

    def close(self) -> None:
        """Tell every follower that the server stops."""
        self._closing = True
        for follower in self._followers:
            follower.closing = True
            follower.wake()

    def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(BEAT, self._beat) if self._followers else None
        for follower in self._followers:
            if not follower.told:
                follower.beat = True
                follower.wake()
            follower.told = False
            since = follower.sending
            if since is not None and loop.time() - since > SEND_WITHIN:
                follower.task.cancel()  # once more at each beat until it has gone
