"""Prerequisites: jobs that wait for others run once those have succeeded, or not at all."""

import logging
from collections.abc import Mapping, Sequence

from driftfold_api.archive.base import Archive
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.store import Conflict, UnknownJob
from driftfold_workers.queue.holding import RedisHolding

PAGE = 500  # jobs that one step looks at

log = logging.getLogger("driftfold.api")


class Prerequisites:
    """Lets held jobs go, or gives them up.

    What a job waits for may be known to the archive only, and was accepted before it. So what
    neither knows was deleted, and nobody waits for itself.
    """

    def __init__(self, holding: RedisHolding, archive: Archive, *, page: int = PAGE) -> None:
        self._holding = holding
        self._archive = archive
        self._page = page

    async def step(self) -> Sequence[str]:
        """Look at some of the jobs that are held; return those that are so no more."""
        held = await self._holding.held(self._page)
        states = await self._states({each for job in held for each in job.terms.after})
        return [job.id for job in held if await self._decide(job, states)]

    async def _decide(self, job: Job, states: Mapping[str, State]) -> bool:
        for each in job.terms.after:
            became = states.get(each)
            if became is None or (became.final and became is not State.SUCCEEDED):
                why = f"job {each}, for which it waits, {_how(became)}"
                return await self._give_up(job.id, why)
        if any(states[each] is not State.SUCCEEDED for each in job.terms.after):
            return False
        return await self._holding.let_go(job.id)

    async def _give_up(self, job: str, why: str) -> bool:
        try:
            await self._holding.give_up(job, why)
        except (Conflict, UnknownJob):  # somebody else was faster
            return False
        log.info("job %s is canceled: %s", job, why)
        return True

    async def _states(self, jobs: set[str]) -> Mapping[str, State]:
        if not jobs:
            return {}
        here = await self._holding.states(sorted(jobs))
        # The job store forgets jobs that are over, and has not yet those that were just accepted.
        return {**await self._archive.states(sorted(jobs - here.keys())), **here}


def _how(state: State | None) -> str:
    if state is None:
        return "was deleted"
    return "was canceled" if state is State.CANCELED else f"has {state}"
