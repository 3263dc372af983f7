"""A stream of server-sent events: a job's records from any number on, until the job is over."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from driftfold_api import frames
from driftfold_api.feed import PAGE, RETRY, Feed
from driftfold_api.feeds import SEND_WITHIN, Feeds
from driftfold_workers.job import Job
from driftfold_workers.stopping import stopped
from driftfold_workers.store import Jobs, StoreError, UnknownJob

COME_BACK = 1000  # milliseconds until a client that lost its connection comes back
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # or nginx would hold events back
]

_log = logging.getLogger("driftfold.api")


class EventStream(Response):
    """Streams a job to one client; whoever leaves leaves nothing behind.

    It writes bytes that were encoded once for all clients. The usual streaming response would
    notice a client that left only at the next write.
    """

    def __init__(
        self, feeds: Feeds, store: Jobs, job: Job, after: int, lifecycle_after: int
    ) -> None:
        super().__init__()
        self._feeds = feeds
        self._store = store
        self._job = job
        self._after = after
        self._lifecycle_after = lifecycle_after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the job is over, the client leaves or stalls, or the server stops."""
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
            if sending.cancelled():
                _log.info("a client of job %s took nothing for %g s", self._job.id, SEND_WITHIN)
            elif sending.done():
                sending.result()
        finally:
            await stopped(sending, leaving)

    async def _send(self, send: Send) -> None:
        clock, task = asyncio.get_running_loop().time, asyncio.current_task()
        assert task is not None
        async with self._feeds.follow(self._job, task) as follower:
            async for part in self._parts(follower.feed):
                follower.sending = clock()
                await send({"type": "http.response.body", "body": part, "more_body": True})
                follower.sending = None
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _parts(self, feed: Feed) -> AsyncIterator[bytes]:
        """Yield what is new, lifecycle events in their places between the records."""
        yield frames.retry(COME_BACK)
        after, told, beats = self._after, 0, feed.beats
        waiting: bytes | None = None
        while not feed.closing:
            changed = feed.changed  # taken before looking, so nothing in between is missed
            # What happened before the first record must come before it: the feed reads it first.
            event = feed.events[told] if feed.begun and told < len(feed.events) else None
            until = math.inf if event is None else event.at
            if event is not None and event.at <= after:
                told += 1
                if event.number > self._lifecycle_after:
                    self._feeds.sent += 1
                    yield event.frame
            elif feed.begun and feed.behind(after):
                try:
                    page = await self._page(after, min(until, feed.last))
                except UnknownJob:
                    yield frames.end(self._job.id, "deleted", "", self._job.seq)
                    return
                after += len(page)
                self._feeds.sent += len(page)
                yield b"".join(page) or frames.PING
            elif feed.begun and (found := feed.since(after, until))[0]:
                self._feeds.sent += found[1] - after
                part, after = found
                yield part
            elif feed.end is not None:
                self._feeds.sent += 1
                yield feed.end
                return
            elif feed.begun and feed.waiting is not waiting:
                waiting = feed.waiting
                if waiting is not None:
                    yield waiting
            elif beats != feed.beats:
                beats = feed.beats
                yield frames.PING
            else:
                await changed.wait()
        yield frames.retry(COME_BACK // 2)

    async def _page(self, after: int, until: float) -> list[bytes]:
        """Return frames from the store; none while it cannot be reached."""
        limit = int(min(PAGE, until - after))
        try:
            records = await self._store.read(self._job.id, after=after, limit=limit)
        except UnknownJob:
            raise
        except StoreError:
            await asyncio.sleep(RETRY)
            return []
        return [frames.record(after + 1 + at, record) for at, record in enumerate(records)]


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
