"""Jobs that wait for others, in Redis: who waits, and what becomes of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from driftfold_workers.jobs.job import Job, State
from driftfold_workers.queue.transition import transition
from driftfold_workers.redis.job_hash import to_job
from driftfold_workers.redis.link import RedisLink


class RedisHolding:
    """Queued jobs that are held until others have succeeded."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._keys = link.keys

    async def held(self, limit: int) -> Sequence[Job]:
        """Return some of the jobs that wait for others."""

        async def send(redis: Any) -> Any:
            jobs = [job.decode() for job in await redis.srandmember(self._keys.held, limit)]
            pipe = redis.pipeline(transaction=False)
            for job in jobs:
                pipe.hgetall(self._keys.job(job))
            return list(zip(jobs, await pipe.execute() if jobs else [], strict=True))

        return [to_job(job, raw) for job, raw in await self._link.call(send) if raw]

    async def states(self, jobs: Sequence[str]) -> Mapping[str, State]:
        """Return the states of jobs; those that are not here are left out."""

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=False)
            for job in jobs:
                pipe.hget(self._keys.job(job), "state")
            return await pipe.execute()

        found = zip(jobs, await self._link.call(send), strict=True)
        return {job: State(state.decode()) for job, state in found if state}

    async def let_go(self, job: str) -> bool:
        """Let a job run; False if it was held no more."""
        return bool(await transition(self._link, "let_go", job))

    async def give_up(self, job: str, why: str) -> None:
        """Cancel a job that will not get what it waits for."""
        await transition(self._link, "cancel", job, why)
