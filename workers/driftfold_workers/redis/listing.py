"""Jobs as Redis has them: one, a page of them, and what those in the queue wait for."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import is_id, number_of
from driftfold_workers.jobs.store import Page, StoreError, UnknownJob
from driftfold_workers.redis.job_hash import to_job
from driftfold_workers.redis.presence import RedisPresence

TWINS = 8  # jobs that may have one number: as many processes would have to make one at once


class RedisListing(RedisPresence):
    """The jobs; `RedisUsers` adds what users do to them."""

    async def get(self, job: str) -> Job:
        """Return a job. Of a queued one its reason tells what it waits for."""

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=True)
            pipe.hgetall(self.keys.job(job))
            pipe.zrank(self.keys.ready, job)
            return await pipe.execute()

        raw, before = await self._link.call(send)
        if not raw:
            raise UnknownJob(f"no job has the id {job}")
        known = replace(to_job(job, raw), position=None if before is None else before + 1)
        return (await self._explain([known]))[0]

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        state: State | None = None,
        dead: bool = False,
    ) -> Page:
        """Return jobs, newest first. A cursor is the id of the last job that was listed."""
        if limit < 1 or not (cursor is None or is_id(cursor)):
            raise StoreError(
                f"cannot list {limit} jobs from cursor {cursor!r} on; ask for one or more, from a "
                "cursor that came with a page, or from the newest (None)"
            )
        first = "+inf" if cursor is None else number_of(cursor)

        async def send(redis: Any) -> tuple[Any, Any]:
            # Those of one number are in the order of their ids, here as in the list.
            range_ = (self.keys.dead if dead else self.keys.jobs(state), first, "-inf")
            found = await redis.zrevrangebyscore(*range_, start=0, num=limit + 1 + TWINS)
            names = [name.decode() for name in found]
            names = [name for name in names if cursor is None or name < cursor][: limit + 1]
            pipe = redis.pipeline(transaction=False)
            for name in names[:limit]:
                pipe.hgetall(self.keys.job(name))
            return names, await pipe.execute()

        names, raws = await self._link.call(send)
        # Some were just deleted.
        jobs = [to_job(job, raw) for job, raw in zip(names, raws, strict=False) if raw]
        return Page(await self._explain(jobs), names[limit - 1] if len(names) > limit else None)

    async def depth(self) -> int:
        """Return how many jobs are queued, for whatever they wait."""
        key = self.keys.jobs(State.QUEUED)
        return int(await self._link.call(lambda redis: redis.zcard(key)))

    async def _explain(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Say what a queued job waits for: its next attempt, anybody, somebody with its kinds."""
        if all(job.state is not State.QUEUED for job in jobs):
            return jobs
        now, present = await self._present()
        kinds = [set(facts["kinds"]) for _, _, facts in present]
        return [
            replace(job, reason=_pause(job, now) or lacking(job.needs, kinds) or job.reason)
            if job.state is State.QUEUED and not job.held
            else job
            for job in jobs
        ]


def _pause(job: Job, now: float) -> str:
    if job.due is None or job.due <= now:
        return ""
    if job.due == job.terms.not_before:
        return f"it may run from {datetime.fromtimestamp(job.due, UTC):%Y-%m-%d %H:%M:%S} UTC on"
    return f"retry in {math.ceil(job.due - now)} s: {job.reason}"


def lacking(needs: Sequence[str], workers: Sequence[set[str]]) -> str:
    """Tell why none of these workers can run the job; "" when one can.

    >>> lacking(["task:pca", "task:mine"], [{"task:pca"}])
    'no worker has task:mine; start one that has it'
    """
    if not workers:
        return "no worker is there; start one"
    # The worker that comes nearest tells best what is missing.
    missing = min((sorted(set(needs) - kinds) for kinds in workers), key=len)
    return f"no worker has {', '.join(missing)}; start one that has it" if missing else ""
