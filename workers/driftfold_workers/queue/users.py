"""The user's half of the queue: submit, cancel, pause, resume, delete."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from driftfold_workers.jobs.canonical import to_json
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import made, new_id
from driftfold_workers.jobs.store import UnknownJob
from driftfold_workers.jobs.terms import USUAL, Terms
from driftfold_workers.queue.transition import transition
from driftfold_workers.redis.job_hash import to_hash, to_job
from driftfold_workers.redis.listing import RedisListing


class RedisUsers(RedisListing):
    """What users do to jobs; `RedisQueue` adds what workers do."""

    async def submit(
        self,
        spec: Mapping[str, Any],
        needs: Sequence[str],
        *,
        name: str = "",
        horizon_rounds: int | None = None,
        terms: Terms = USUAL,
    ) -> Job:
        """Queue a new job, and return it."""
        complete, wanted = json.loads(to_json(spec)), tuple(sorted(set(needs)))
        new = new_id()
        job = Job(new, complete, wanted, State.QUEUED, name=name, created=made(new))
        job = replace(job, horizon_rounds=horizon_rounds, terms=terms)
        await self.enqueue(job)
        return job

    async def enqueue(self, job: Job, *, events: int = 0) -> bool:
        """Queue a job that was accepted elsewhere; False if it is known already."""
        how = (events, int(job.state is State.PAUSED))
        return bool(await transition(self._link, "enqueue", job.id, *how, *to_hash(job)))

    async def cancel(self, job: str, reason: str = "") -> Job:
        """Cancel a waiting job at once, a running one by its worker. A final one: `Conflict`."""
        return to_job(job, await transition(self._link, "cancel", job, reason))

    async def pause(self, job: str) -> Job:
        """Take a queued job out of the queue; have a running one stop at the end of its round."""
        return to_job(job, await transition(self._link, "pause", job))

    async def resume(self, job: str) -> Job:
        """Put a paused job in its place in the queue again. One that is not paused: `Conflict`."""
        return to_job(job, await transition(self._link, "resume", job))

    async def delete(self, job: str) -> bool:
        """Forget a final job and its log; any other: `Conflict`."""
        there = await self._link.call(lambda redis: redis.exists(self.keys.job(job)))
        if not there:
            raise UnknownJob(f"no job has the id {job}")
        await transition(self._link, "delete", job)
        return True
