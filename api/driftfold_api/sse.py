"""A stream of server-sent events: what a follower is told, until there is no more."""

import asyncio
import logging
from abc import abstractmethod

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from driftfold_api import frames
from driftfold_api.feed import CHUNK, RETRY
from driftfold_api.feeds import SEND_WITHIN, Feeds
from driftfold_api.follower import Follower
from driftfold_api.observing import SEND
from driftfold_api.track import Part, Track
from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import StoreError
from driftfold_workers.stopping import stopped

COME_BACK = 1000  # milliseconds until a client that lost its connection comes back
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # or nginx would hold events back
]

_log = logging.getLogger("driftfold.api")


class EventStream(Response):
    """Streams to one client; whoever leaves leaves nothing behind.

    It writes bytes that were encoded once for all clients. The usual streaming response would
    notice a client that left only at the next write.
    """

    def __init__(self, feeds: Feeds) -> None:
        super().__init__()
        self._feeds = feeds

    @abstractmethod
    def begin(self, follower: Follower) -> bytes:
        """Take the places that the follower begins with; return frames to send first."""

    @abstractmethod
    def text(self, track: Track, part: Part) -> bytes:
        """Return what is sent of a part."""

    def over(self, follower: Follower) -> bool:
        """Whether there is no more to come."""
        return not follower.tracks

    def end(self, follower: Follower) -> None:
        """Give up what `begin` took beside places."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until there is no more, the client leaves or stalls, or the server stops."""
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        # What is around the app has seen the beginning, and has nothing to do with the rest.
        direct = scope.get("state", {}).get(SEND, send)
        sending = asyncio.create_task(self._send(scope, direct))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
            if sending.cancelled():
                _log.info("%s took nothing for %g s", scope.get("client"), SEND_WITHIN)
            elif sending.done():
                sending.result()
        finally:
            await stopped(sending, leaving)

    async def _send(self, scope: Scope, send: Send) -> None:
        clock, task = asyncio.get_running_loop().time, asyncio.current_task()
        assert task is not None
        client = scope.get("client")
        async with self._feeds.following(task, client and tuple(client)) as follower:
            try:
                chunk: bytes | None = frames.retry(COME_BACK) + self.begin(follower)
                while chunk is not None:
                    follower.sending = clock()
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    follower.sending = None
                    follower.told = True
                    chunk = await self._next(follower)
            finally:
                self.end(follower)
        last = frames.retry(COME_BACK // 2) if follower.closing else b""
        await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _next(self, follower: Follower) -> bytes | None:
        """Return whole frames: all that there is, about a `CHUNK`, or what comes; or None."""
        held: list[bytes] = []
        size = 0
        while not follower.closing:
            try:
                found = await follower.next()
            except StoreError:
                await asyncio.sleep(RETRY)
                return b"".join(held) + frames.PING
            if found is not None:
                track, part = found
                held.append(self.text(track, part))
                size += len(held[-1])
                self._feeds.sent += len(part.frames)
                if track.over:
                    await self._feeds.leave(follower, track)
                if size < CHUNK:
                    continue
            if held:
                return b"".join(held)
            if self.over(follower):
                return None
            if follower.beat:
                follower.beat = False
                return frames.PING
            await follower.wait()
        return b"".join(held) if held else None


class JobStream(EventStream):
    """Streams one job, until it is over."""

    def __init__(self, feeds: Feeds, job: Job, after: int, lifecycle_after: int) -> None:
        super().__init__(feeds)
        self._job = job
        self._after = after
        self._lifecycle_after = lifecycle_after

    def begin(self, follower: Follower) -> bytes:
        """Take the one place."""
        self._feeds.join(follower, self._job, self._after, self._lifecycle_after)
        return b""

    def text(self, track: Track, part: Part) -> bytes:
        """Return the frames as they are."""
        return b"".join(part.frames)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
