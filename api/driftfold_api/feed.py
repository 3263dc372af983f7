"""The live end of a job's log: read and encoded once, whoever many follow it.

A follower is a position, not a queue, so a slow one costs nothing and slows nobody. One that has
fallen behind what is kept here reads the store until it has caught up.
"""

import asyncio
import math
from collections import deque
from dataclasses import dataclass

from driftfold_api import frames
from driftfold_workers.job import Job
from driftfold_workers.store import JobStore, StoreError, UnknownJob

KEPT = 2**20  # bytes of frames kept for a job that somebody follows
BACKLOG = 500  # records before the present end that a new feed reads, for its first followers
PAGE = 500
CHUNK = 64 * 1024  # bytes: what one write hands to the network
LOOK = 1.0  # seconds between two looks at a job that tells nothing
BUSY_LOOK = 0.2  # the same while records come
RETRY = 0.5  # seconds before the store is asked again after a failure


@dataclass(frozen=True)
class Told:
    """A lifecycle event: its number, the number of the record it followed, its frame."""

    number: int
    at: int
    frame: bytes


class Feed:
    """What followers of one job are told, and when there is more."""

    def __init__(self, store: JobStore, job: Job) -> None:
        self._store = store
        self._job = job.id
        self._kept: deque[bytes] = deque()
        self._size = 0
        self._events_seen = 0
        self.last = max(0, job.seq - BACKLOG)
        self.events: list[Told] = []
        self.end: bytes | None = None
        self.looked = False
        self.closing = False
        self.beats = 0
        self.changed = asyncio.Event()
        self.task = asyncio.create_task(self._run(), name=f"feed of job {job.id}")

    def behind(self, after: int) -> bool:
        """Return whether a follower at `after` must read the store to go on."""
        return after < self.last - len(self._kept)

    def since(self, after: int, until: float) -> tuple[bytes, int]:
        """Return frames after number `after`, about a `CHUNK` at most, and the last's number."""
        first = self.last - len(self._kept) + 1
        parts, size = [], 0
        while after < min(self.last, until) and size < CHUNK:
            parts.append(self._kept[after + 1 - first])
            size += len(parts[-1])
            after += 1
        return b"".join(parts), after

    def beat(self) -> None:
        """Let every follower that has nothing to tell say that it lives."""
        self.beats += 1
        self.wake()

    def wake(self) -> None:
        """Let every follower look again."""
        self.changed.set()
        self.changed = asyncio.Event()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        looked = -math.inf
        while self.end is None:
            try:
                if clock() - looked >= BUSY_LOOK:
                    await self._look()
                    looked = clock()
                    if not self.looked:
                        self.looked = True
                        self.wake()
                if not await self._read():
                    looked = -math.inf  # the job may be over
            except UnknownJob:
                self.end = frames.end(self._job, "deleted", "", self.last)
            except StoreError:  # it comes back, or the followers leave
                await asyncio.sleep(RETRY)
        self.wake()

    async def _read(self) -> bool:
        """Wait for records; False when none came."""
        if self.end is not None:
            return False
        records = await self._store.read(self._job, after=self.last, limit=PAGE, wait=LOOK)
        for record in records:
            self.last += 1
            self._keep(frames.record(self.last, record))
        if records:
            self.wake()
        return bool(records)

    async def _look(self) -> None:
        """Learn what happened to the job. Events come before the end that they explain."""
        job = await self._store.get(self._job)
        more = True
        while more:
            found = await self._store.events(self._job, after=self._events_seen, limit=PAGE)
            for event in found:
                self._events_seen = event.number
                if event.kind != "checkpoint":  # as many as rounds, perhaps; /lifecycle has them
                    at = int(event.facts.get("seq", 0))
                    self.events.append(Told(event.number, at, frames.lifecycle(event)))
                    self.wake()
            more = len(found) == PAGE
        if job.state.final and self.last >= job.seq:
            self.end = frames.end(job.id, job.state, job.reason, job.seq)

    def _keep(self, frame: bytes) -> None:
        self._kept.append(frame)
        self._size += len(frame)
        while self._size > KEPT and len(self._kept) > 1:
            self._size -= len(self._kept.popleft())
