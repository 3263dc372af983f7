"""The recorder: what jobs have told in the job store is written to the archive."""

import asyncio
import logging

from driftfold_api.archive.base import Archive, Position
from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.jobs.store import Trimmed
from driftfold_workers.observing.logs import bound
from driftfold_workers.window.window import RedisWindow

JOBS = 50  # of which one step records something
RECORDS = 1000  # of one job that one step records, unless they are long
FIRST = 100  # that the first step records
BYTES = 8 * 2**20  # of records in one step, more or less

log = logging.getLogger("driftfold.api")


class Recorder:
    """Records in steps: read, commit, and only then let the job store trim.

    Whoever begins anew repeats at most one step, which changes nothing: all that a recorder keeps
    is how many records of a job it takes at once, which is fewer after a step with long ones.
    """

    def __init__(self, window: RedisWindow, archive: Archive) -> None:
        self._window = window
        self._archive = archive
        self._limit = min(FIRST, RECORDS)

    async def step(self, fence: int) -> bool:
        """Record some of what is not recorded; whether there is more.

        Raises `Overtaken` when another recorder is in charge.
        """
        jobs = await self._window.unrecorded(JOBS)
        known = await self._archive.positions(jobs) if jobs else {}
        found = await asyncio.gather(*(self._excerpt(job, known.get(job)) for job in jobs))
        told = [excerpt for excerpt in found if excerpt is not None]
        if not told:
            return False
        limit, size = self._limit, sum(len(record) for each in told for record in each.records)
        self._limit = limit // 2 if size > BYTES else 2 * limit if size < BYTES // 4 else limit
        self._limit = min(max(self._limit, 1), RECORDS)
        await self._archive.record(fence, told)
        done = await asyncio.gather(
            *(self._recorded(each, known.get(each.job.id)) for each in told)
        )
        return len(jobs) == JOBS or not all(done)

    async def _excerpt(self, job: str, known: Position | None) -> Excerpt | None:
        """Return what of a job is to be recorded; None where nothing can be."""
        told = None
        if known is None:  # the archive that had it was lost; or it was deleted
            told = await self._window.whole(job, limit=self._limit)
        else:
            try:
                told = await self._window.excerpt(
                    job, after=known.seq, events_after=known.events, limit=self._limit
                )
            except Trimmed:
                with bound(job=job):
                    log.error(
                        "job %s cannot be recorded further: the archive ends at record %d, and the "
                        "job store has forgotten what follows; was an older archive put in place?",
                        job,
                        known.seq,
                    )
        if told is None:
            await self._window.pass_over(job)
        return told

    async def _recorded(self, told: Excerpt, known: Position | None) -> bool:
        before = Position(0, 0) if known is None else known
        events = told.events[-1].number if told.events else before.events
        return await self._window.recorded(told.job.id, told.last, events)
