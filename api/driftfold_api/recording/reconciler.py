"""The reconciler: what was accepted and is not over is in the job store, whatever that has lost."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from driftfold_api.archive.base import Archive, Wish
from driftfold_workers.artefacts.clearing import clear_up
from driftfold_workers.artefacts.runs import Runs
from driftfold_workers.jobs.new_id import made
from driftfold_workers.jobs.store import Conflict, StoreError, UnknownJob
from driftfold_workers.observing.logs import bound
from driftfold_workers.redis_store import RedisJobStore

GRACE = 2.0  # seconds in which whoever accepted a job queues it
PAGE = 1000
SLICES = 20  # pieces of deleted jobs that one step removes
UNSEEN = 100
"""Attempts of a job of which the archive may know nothing.

A worker that lost its job with the job store may be there still, and must not have the epoch of the
next attempt.
"""

log = logging.getLogger("driftfold.api")


class Reconciler:
    """Queues jobs that the archive has accepted and the job store does not know; grants wishes."""

    def __init__(
        self,
        store: RedisJobStore,
        archive: Archive,
        *,
        grace: float = GRACE,
        runs: Runs | None = None,
    ) -> None:
        self._store = store
        self._archive = archive
        self._grace = grace
        self._runs = runs

    async def step(self) -> Sequence[str]:
        """Grant wishes, queue what is missing, and return that."""
        await self._grant()
        queued, after = list[str](), ""
        while jobs := await self._archive.unfinished(after=after, limit=PAGE):
            old = [job for job in jobs if time.time() - made(job) >= self._grace]
            missing = await self._store.window.unknown(old) if old else ()
            for job in await self._archive.send(missing) if missing else ():
                if await queue_again(self._store, self._archive, job):
                    with bound(job=job):
                        log.info("job %s was accepted and is not in the job store: queued", job)
                    queued.append(job)
            after = jobs[-1]
        return queued

    async def forget(self) -> None:
        """Let the job store forget jobs that are in the archive to their end.

        Nobody would find what they have left behind any more, so that goes first.
        """
        while jobs := await self._store.window.leaving(PAGE):
            if self._runs is not None:
                for job in await self._store.window.uncleared(jobs):
                    await self._clear_up(self._runs, job)
            for job in jobs:
                await self._store.window.forget(job)

    async def _clear_up(self, runs: Runs, job: str) -> None:
        """Do what no worker did for an hour, while the job store still knows that it is to do."""
        try:
            told = await self._store.get(job)
        except UnknownJob:  # a user has it deleted
            return
        await clear_up(runs, told)

    async def _grant(self) -> None:
        slices = SLICES
        for job, wish in await self._archive.wishes(PAGE):
            if wish is not Wish.DELETE:
                await grant_there(self._store, self._archive, job, wish)
                continue
            try:
                await self._store.window.forget(job)
            except Conflict:  # it is not over there after all: later
                continue
            if not await self._without_artefacts(job):
                continue
            while slices > 0 and await self._archive.bury(job):
                slices -= 1

    async def _without_artefacts(self, job: str) -> bool:
        """Remove what a deleted job has left, while the archive still knows it; whether all is."""
        if self._runs is not None:
            try:
                await asyncio.to_thread(self._runs.delete, job)
            except OSError as error:
                log.warning("the artefacts of job %s cannot be removed yet: %s", job, error)
                return False
        return True


async def grant_there(store: RedisJobStore, archive: Archive, job: str, wish: Wish) -> None:
    """Grant the wish that a job is canceled, paused or resumed."""
    moves = {Wish.CANCEL: store.cancel, Wish.PAUSE: store.pause, Wish.RESUME: store.resume}
    try:
        try:
            await moves[wish](job)
        except UnknownJob:
            await archive.send([job])
            await queue_again(store, archive, job)
            await moves[wish](job)
    except (Conflict, UnknownJob):  # it is over, or is so already
        pass
    await archive.grant(job, wish)


async def queue_again(store: RedisJobStore, archive: Archive, job: str) -> bool:
    """Queue a job that the job store does not know, if it is not over; whether that was needed."""
    try:
        known = await archive.get(job)
        # Later, so its snapshot never stands after its log.
        position = (await archive.positions([job]))[job]
    except (UnknownJob, KeyError):  # deleted meanwhile
        return False
    if known.state.final:
        return False
    restored = replace(known, seq=position.seq, epoch=known.epoch + UNSEEN)
    if not await store.enqueue(restored, events=position.events):
        return False
    try:
        await archive.get(job)
    except UnknownJob:  # it was deleted in between: so it had been over
        with suppress(StoreError):
            await store.cancel(job)
            await store.delete(job)
    return True
