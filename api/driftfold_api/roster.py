"""The roster: who follows all jobs hears of each that begins."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from driftfold_workers.jobs.job import Job
from driftfold_workers.jobs.store import Jobs, StoreError, UnknownJob
from driftfold_workers.stopping import stopped

EVERY = 0.25  # seconds between two looks at who has begun
PAGE = 200  # jobs that one look finds
RETRY = 0.5  # seconds after a failure


@dataclass(eq=False)
class Newcomers:
    """Somebody who is to hear of jobs that begin after turn `turn`, which moves on."""

    turn: int
    come: Callable[[Job], None]


class Roster:
    """Looks for jobs that begin, for all who want to know, while there is anybody."""

    def __init__(self, store: Jobs) -> None:
        self._store = store
        self._heard: set[Newcomers] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, newcomers: Newcomers) -> None:
        """Tell somebody, from the next look on."""
        self._heard.add(newcomers)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="roster")

    def remove(self, newcomers: Newcomers) -> None:
        """Tell somebody no more."""
        self._heard.discard(newcomers)
        if not self._heard and self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """Stop looking."""
        if self._task is not None:
            await stopped(self._task)

    async def _run(self) -> None:
        while self._heard:
            pause = EVERY
            try:
                # Those who are far behind, over a restart say, come up to the others page by page.
                behind = min(newcomers.turn for newcomers in self._heard)
                found = (await self._store.turns(after=behind, limit=PAGE)).jobs
                known = await asyncio.gather(*(self._get(job) for job, _ in found))
                self._tell([turn for _, turn in found], known)
                pause = 0.0 if len(found) == PAGE else EVERY
            except StoreError:
                pause = RETRY
            await asyncio.sleep(pause)

    def _tell(self, turns: Sequence[int], jobs: Sequence[Job | None]) -> None:
        for newcomers in tuple(self._heard):
            for turn, job in zip(turns, jobs, strict=True):
                if turn > newcomers.turn:
                    newcomers.turn = turn
                    if job is not None:
                        newcomers.come(job)

    async def _get(self, job: str) -> Job | None:
        try:
            return await self._store.get(job)
        except UnknownJob:  # deleted
            return None
