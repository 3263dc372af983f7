"""A client of the live logs: the places that it has in feeds, and which of them have more."""

import asyncio
from typing import TypeAlias

from driftfold_api.track import Part, Track
from driftfold_workers.jobs.store import StoreError

Address: TypeAlias = tuple[str, int]
"""Host and port of a client."""


class Follower:
    """One client. It has no queue: only places, so a slow one costs nothing.

    Attributes
    ----------
    task
        Sends to it.
    client
        Where it is, if that is known.
    tracks
        Its places by job.
    sending
        Since when the present write lasts, by the loop's clock; None between writes.
    beat
        Whether it is time for a sign of life.
    told
        Whether something was sent since the last beat, which is a sign of life.
    closing
        Whether the server stops.
    """

    def __init__(self, task: asyncio.Task[None], client: Address | None) -> None:
        self.task = task
        self.client = client
        self.tracks: dict[str, Track] = {}
        self.sending: float | None = None
        self.beat = False
        self.told = False
        self.closing = False
        self._ready: dict[Track, None] = {}
        self._changed = asyncio.Event()

    def hear(self, track: Track) -> None:
        """Take note that a place may have more."""
        self._ready[track] = None
        self._changed.set()

    def wake(self) -> None:
        """Let it look again."""
        self._changed.set()

    async def next(self) -> tuple[Track, Part] | None:
        """Return what one place tells, the places in turn; None when there is nothing now."""
        while self._ready:
            track = next(iter(self._ready))
            del self._ready[track]  # before it looks, so nothing in between is missed
            try:
                part = track.next()
                if part is None and track.behind:
                    part = await track.page()
            except StoreError:
                self._ready[track] = None
                raise
            if part is not None:
                self._ready[track] = None
                return track, part
        return None

    async def wait(self) -> None:
        """Wait until it is worth another look."""
        await self._changed.wait()
        self._changed.clear()
