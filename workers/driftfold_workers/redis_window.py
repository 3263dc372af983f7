"""The job store in Redis as a window on what happens: what the archive takes from it, and trims."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from driftfold_workers.excerpt import Excerpt
from driftfold_workers.job_hash import to_event, to_job
from driftfold_workers.redis_link import RedisLink
from driftfold_workers.redis_logs import check_first

Charge = Literal["begins", "goes on", "another"]
"""Who fills the archive: this one from now on, this one as before, or another one."""

MARGIN = 2000  # records that stay for those who read along
KEEP = 3600.0  # seconds that a job stays after its end was recorded


class RedisWindow:
    """What is not recorded yet. Nothing is trimmed or forgotten before it was."""

    def __init__(self, link: RedisLink, *, margin: int = MARGIN, keep: float = KEEP) -> None:
        self._link = link
        self._keys = link.keys
        self._margin = margin
        self._keep = keep

    async def lead(self, name: str, lease: float) -> Charge:
        """Ask to be the one who fills the archive for `lease` seconds; 0 gives it up."""
        args = (name, round(lease * 1000))
        charge = await self._link.script("lead", [self._keys.recorder], *args)
        return ("another", "goes on", "begins")[charge]

    async def unrecorded(self, limit: int) -> Sequence[str]:
        """Return some of the jobs that have told something which is not recorded."""
        key = self._keys.unrecorded
        found = await self._link.call(lambda redis: redis.srandmember(key, limit))
        return [job.decode() for job in found]

    async def excerpt(
        self, job: str, *, after: int, events_after: int, limit: int
    ) -> Excerpt | None:
        """Return what a job has told after two numbers; None when it was deleted.

        At most `limit` records, and all events. Raises `Trimmed` where the first record is gone.
        """

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=True)
            pipe.xrange(self._keys.records(job), min=f"{after + 1}-0", count=limit)
            pipe.xrange(self._keys.events(job), min=f"{events_after + 1}-0")
            pipe.hgetall(self._keys.job(job))
            return await pipe.execute()

        records, events, raw = await self._link.call(send)
        if not raw:
            return None
        told = to_job(job, raw)
        check_first(job, after, records, told.seq)
        return Excerpt(
            told,
            after + 1,
            [fields[b"record"] for _, fields in records],
            [to_event(number, fields) for number, fields in events],
        )

    async def recorded(self, job: str, seq: int, events: int) -> bool:
        """Take note that records and events up to two numbers are safe; whether that is all."""
        args = (seq, events, self._margin, round(self._keep * 1000))
        return bool(await self._link.transition("recorded", job, *args))

    async def pass_over(self, job: str) -> None:
        """Do not offer a job again before it tells something new."""
        await self._link.call(lambda redis: redis.srem(self._keys.unrecorded, job))

    async def unknown(self, jobs: Sequence[str]) -> Sequence[str]:
        """Return those of some jobs that are not here."""

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=False)
            for job in jobs:
                pipe.exists(self._keys.job(job))
            return await pipe.execute()

        there = await self._link.call(send)
        return [job for job, known in zip(jobs, there, strict=True) if not known]

    async def ends(self, jobs: Sequence[str]) -> Mapping[str, int]:
        """Return the number of the last record of each job that is here."""

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=False)
            for job in jobs:
                pipe.hget(self._keys.job(job), "seq")
            return await pipe.execute()

        found = await self._link.call(send)
        return {job: int(seq) for job, seq in zip(jobs, found, strict=True) if seq is not None}

    async def forget(self, job: str) -> None:
        """Forget a job that is over, and its log."""
        await self._link.transition("delete", job)

    async def leaving(self, limit: int) -> Sequence[str]:
        """Return jobs that may be forgotten: their end was recorded long ago."""

        async def send(redis: Any) -> Any:
            seconds, micros = await redis.time()
            now = seconds * 1000 + micros // 1000
            return await redis.zrange(
                self._keys.archived, "-inf", now, byscore=True, offset=0, num=limit
            )

        return [job.decode() for job in await self._link.call(send)]
