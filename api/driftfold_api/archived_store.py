"""What users do to jobs, kept in the archive: accepted there first, found there last."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from driftfold_api.archive.base import Archive, Deleted, Wanted, Wish
from driftfold_api.attempts import attempts_of
from driftfold_api.depth import LIMIT, Depth
from driftfold_api.models import Attempt, Lifecycle
from driftfold_api.reach import Reach
from driftfold_api.recording.ownership import check_owner
from driftfold_api.recording.reconciler import grant_there, queue_again
from driftfold_workers.jobs.job import Job, LifecycleEvent, News, State, Turns
from driftfold_workers.jobs.store import (
    Conflict,
    Jobs,
    Page,
    StoreError,
    StoreRefuses,
    StoreUnreachable,
    Trimmed,
    UnknownJob,
)
from driftfold_workers.redis_store import RedisJobStore

T = TypeVar("T")

PAGE = 1000  # lifecycle events that are read at once
RECORDING = 10  # looks at the archive until the end of a job must be recorded
PAUSE = 0.5  # seconds between two looks at a job that is not queued yet
LATER = "it is accepted, and is queued as soon as the job store answers"


class ArchivedStore(Jobs):
    """Jobs in the job store, and in the archive what that has no more or cannot tell now.

    The job store is right about what it knows; a job is over where either says so.
    """

    def __init__(
        self,
        store: RedisJobStore,
        archive: Archive,
        reach: Reach | None = None,
        *,
        queue_limit: int = LIMIT,
    ) -> None:
        self._store = store
        self._archive = archive
        self.reach = reach or Reach(check=lambda: check_owner(store.window, archive))
        self.queue_limit = queue_limit
        self.depth = Depth(store, archive, self.reach, queue_limit)

    async def submit(self, wanted: Wanted, *, key: str | None = None) -> tuple[Job, bool]:
        """Accept a job; return it, and whether it is new. It is on disk then.

        The same key with the same request returns the job it made, unless that has failed; with
        another request: `Conflict`. Without its job store the service queues the job later. With
        as many jobs queued as may be it makes none: `QueueFull`.
        """
        async with self.depth.room() as room:
            return await self._submit(wanted, key, room)

    async def get(self, job: str) -> Job:
        """Return a job."""

        async def kept() -> Job:
            known = await self._archive.get(job)
            waits = known.state is State.QUEUED and not known.pausing
            return replace(known, reason=LATER) if waits else known

        found = await self._either(lambda: self._store.get(job), kept)
        return (await self._retries([found]))[0]

    async def recorded(self, job: str) -> Job:
        """Return a job that is over as the archive has it, with all of its log; wait for that."""
        for _ in range(RECORDING):
            if (kept := await self._archive.get(job)).state.final:
                return kept
            await asyncio.sleep(PAUSE)
        raise StoreUnreachable(f"the end of job {job} is not recorded yet; repeat the request")

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        state: State | None = None,
        dead: bool = False,
    ) -> Page:
        """Return jobs, newest first. A cursor is the id of the last job that was listed."""
        try:
            live = await self.reach.ask(
                lambda: self._store.list(limit=limit, cursor=cursor, state=state, dead=dead)
            )
        except StoreUnreachable:
            return await self._archive.list(limit=limit, cursor=cursor, state=state, dead=dead)
        kept = await self._archive.list(limit=limit, cursor=cursor, state=state, dead=dead)
        live = replace(live, jobs=await self._retries(live.jobs))
        there = {job.id for job in live.jobs}
        more = [job for job in kept.jobs if job.id not in there]
        # What is recorded of a job that is not over may be old: the job store knows better.
        doubtful = [job.id for job in more if not job.state.final]
        unknown = set(await self.reach.ask(lambda: self._store.window.unknown(doubtful)))
        more = [job for job in more if job.state.final or job.id in unknown]
        found = sorted([*live.jobs, *more], key=lambda job: job.id, reverse=True)
        # Beyond the end of a list that goes on there may be jobs between those of the other.
        end = max(live.cursor or "", kept.cursor or "")
        complete = [job for job in found if job.id >= end]
        if len(complete) > limit:
            return Page(complete[:limit], complete[limit - 1].id)
        return Page(complete, end or None)

    async def cancel(self, job: str) -> Job:
        """Cancel a queued job at once; ask the worker of a running one. A final job: `Conflict`.

        Without the job store one that is not queued yet is canceled at once, too. Of any other the
        wish is kept: it is canceling.
        """
        try:
            return await self.reach.ask(lambda: self._store.cancel(job))
        except StoreUnreachable as error:
            return await self._kept(lambda: self._archive.cancel(job), error)
        except UnknownJob:
            told = await self._archive.cancel(job)
        if told.state.final:
            return told
        return await self._granted(job, Wish.CANCEL, told)

    async def pause(self, job: str) -> Job:
        """Take a queued job out of the queue; have a running one stop at the end of its round.

        Without the job store one that is not queued yet is paused at once. Of any other the wish
        is kept.
        """
        return await self._move(job, Wish.PAUSE, self._store.pause, self._archive.pause)

    async def resume(self, job: str) -> Job:
        """Put a paused job in its place in the queue again. One that is not paused: `Conflict`.

        Without the job store it is as for a pause.
        """
        return await self._move(job, Wish.RESUME, self._store.resume, self._archive.resume)

    async def delete(self, job: str) -> bool:
        """Forget a final job and its log; any other: `Conflict`.

        Returns whether it is gone. False: the job store will be told as soon as it answers.
        """
        away = False
        try:
            known = await self.reach.ask(lambda: self._store.get(job))
        except UnknownJob:
            known = await self._archive.get(job)
        except StoreUnreachable as error:
            known, away = await self._kept(lambda: self._archive.get(job), error), True
        if not known.state.final:
            so_far = ", as far as is recorded" if away else ""
            raise Conflict(
                f"job {job} is {known.state}{so_far}; cancel it and wait for its end before "
                "deleting"
            )
        # The archive first: it remembers what is to be deleted.
        with suppress(UnknownJob):
            await self._archive.delete(job)
        if away:
            return False
        try:
            await self.reach.ask(lambda: self._store.delete(job))
        except UnknownJob:
            pass
        except StoreUnreachable:
            return False
        return True

    async def read(
        self, job: str, *, after: int = 0, limit: int = 1000, wait: float = 0.0
    ) -> Sequence[bytes]:
        """Records after number `after`, in order."""
        patient = 0.0 if self.reach.lost else wait
        return await self._either(
            lambda: self._store.read(job, after=after, limit=limit, wait=patient),
            lambda: self._archive.read(job, after=after, limit=limit),
            patient,
        )

    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Lifecycle events of a job after number `after`."""
        return await self._either(
            lambda: self._store.events(job, after=after, limit=limit),
            lambda: self._archive.events(job, after=after, limit=limit),
        )

    async def attempts(self, job: str) -> Sequence[Attempt]:
        """Return the attempts at a job, the latest last.

        They are kept in the archive; what is not recorded yet is added from the job store.
        """
        try:
            found, last = await self._archive.attempts(job)
        except Deleted:
            raise
        except UnknownJob:  # it is to be adopted, or is nowhere
            found, last = (), 0
        more = True
        while more:
            events = await self.events(job, after=last, limit=PAGE)
            found = attempts_of(map(Lifecycle.of, events), found)
            last = events[-1].number if events else last
            more = len(events) == PAGE
        return found

    async def turns(self, *, after: int = 0, limit: int = 1000) -> Turns:
        """Return jobs that first left the queue after turn `after`: the job store's own."""
        return await self.reach.ask(lambda: self._store.turns(after=after, limit=limit))

    async def active(self) -> tuple[int, Sequence[str]]:
        """Return the last turn, and ids of the jobs that have had theirs and are not over."""
        return await self.reach.ask(self._store.active)

    async def news(
        self,
        job: str,
        *,
        after: int = 0,
        events_after: int = 0,
        limit: int = 1000,
        wait: float = 0.0,
    ) -> News:
        """Return records and lifecycle events after two numbers, of one moment."""
        patient = 0.0 if self.reach.lost else wait
        away: StoreError | None = None

        async def live() -> News:
            return await self._store.news(
                job, after=after, events_after=events_after, limit=limit, wait=patient
            )

        async def kept() -> News:
            return await self._archive.news(
                job, after=after, events_after=events_after, limit=limit
            )

        try:
            return await self.reach.ask(live, patient)
        except StoreRefuses:
            raise
        except (UnknownJob, Trimmed):
            pass
        except StoreUnreachable as error:
            away = error
        told = await self._kept(kept, away)
        if not (told.records or told.events or told.state.final):
            if away is not None:
                raise away
            await asyncio.sleep(min(wait, PAUSE))
        return told

    async def _submit(self, wanted: Wanted, key: str | None, room: bool) -> tuple[Job, bool]:
        there = not self.reach.lost
        accept = partial(self._archive.accept, wanted, key=key, sent=there, room=room)
        job, new = await accept()
        if not new:
            known = await self.get(job.id)
            if known.state is not State.FAILED:
                return known, False
            job, new = await accept(instead_of=job.id)
            if not new:  # another one repeats the request, too
                return await self.get(job.id), False
        try:
            if not there:  # until it answers again, nobody but the archive knows of the job
                await self.reach.ask(lambda: self._store.window.unknown([job.id]))
                await self._archive.send([job.id])
                # As it is by now: it may be paused, or canceled.
                await self.reach.ask(lambda: queue_again(self._store, self._archive, job.id))
                return await self.get(job.id), True
            await self.reach.ask(lambda: self._store.enqueue(job))
        except StoreUnreachable:
            return replace(job, reason=LATER), True
        if job.terms.after or job.terms.not_before is not None:  # it waits, and says for what
            return await self.get(job.id), True
        return job, True

    async def _retries(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Say of jobs by which others they were tried again, which the job store does not know."""
        ended = [job.id for job in jobs if job.state in (State.FAILED, State.CANCELED)]
        try:
            found = await self._archive.retries(ended) if ended else {}
        except StoreUnreachable:
            return jobs
        return [replace(job, retried_by=found.get(job.id, "")) for job in jobs]

    async def _move(
        self,
        job: str,
        wish: Wish,
        live: Callable[[str], Awaitable[Job]],
        kept: Callable[[str], Awaitable[Job]],
    ) -> Job:
        """Pause or resume a job, wherever it is known.

        While one of both is still wished of it, the wish is changed: were the job moved itself,
        the wish would be granted later, and undo that.
        """
        if await self._waits_for_a_move(job):
            try:
                return await kept(job)
            except Conflict:  # unless it was granted just now: then the job store knows better
                if await self._waits_for_a_move(job):
                    raise
        try:
            return await self.reach.ask(lambda: live(job))
        except StoreUnreachable as error:
            return await self._kept(lambda: kept(job), error)
        except UnknownJob:
            told = await kept(job)
        return await self._granted(job, wish, told)

    async def _waits_for_a_move(self, job: str) -> bool:
        try:
            return await self._archive.wish(job) in (Wish.PAUSE, Wish.RESUME)
        except StoreUnreachable:  # the job store is enough
            return False

    async def _granted(self, job: str, wish: Wish, told: Job) -> Job:
        """Grant a wish about a job that the job store has lost; return the job then."""
        try:
            if await self._archive.wish(job) is wish:
                await self.reach.ask(lambda: grant_there(self._store, self._archive, job, wish))
            return await self.reach.ask(lambda: self._store.get(job))
        except (StoreUnreachable, UnknownJob):  # or it was never sent
            return told

    async def _either(
        self,
        live: Callable[[], Awaitable[T]],
        kept: Callable[[], Awaitable[T]],
        wait: float = 0.0,
    ) -> T:
        """Return what the job store tells, or else the archive.

        Where an archive that was put back lacks what the job store has trimmed, too: `Trimmed`.
        """
        try:
            return await self.reach.ask(live, wait)
        except StoreRefuses:
            raise
        except UnknownJob:
            return await kept()
        except Trimmed:
            told = await kept()
            if not told:
                raise
            return told
        except StoreUnreachable as error:
            return await self._kept(kept, error)

    async def _kept(self, kept: Callable[[], Awaitable[T]], away: StoreError | None) -> T:
        """Return what the archive tells. Of what it does not know the job store may know more."""
        try:
            return await kept()
        except Deleted:
            raise
        except UnknownJob:
            if away is None:
                raise
            raise away from None
