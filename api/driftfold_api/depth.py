"""How many jobs are queued, and whether there is room for more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from driftfold_api.archive.base import Archive
from driftfold_api.reach import Reach
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import StoreUnreachable
from driftfold_workers.redis_store import RedisJobStore

LIMIT = 100_000
"""Jobs that may be queued, where nothing else was asked for."""


class Depth:
    """Keeps the queue from growing without end. What was accepted is never refused later."""

    def __init__(
        self, store: RedisJobStore, archive: Archive, reach: Reach, limit: int = LIMIT
    ) -> None:
        self.limit = limit
        self._store = store
        self._archive = archive
        self._reach = reach
        self._entering = 0
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def room(self, jobs: int = 1) -> AsyncIterator[bool]:
        """Tell whether so many jobs may be queued in this block; they count until it is left."""
        async with self._turn:
            entering = self._entering  # some of them may be in the queue when it is counted
            admitted = jobs if await self._depth() + entering + jobs <= self.limit else 0
            self._entering += admitted
        try:
            yield admitted == jobs
        finally:
            self._entering -= admitted

    async def _depth(self) -> int:
        try:
            return await self._reach.ask(self._store.depth)
        except StoreUnreachable:
            return (await self._archive.counts()).get(State.QUEUED, 0)
