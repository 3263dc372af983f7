"""The job store in Redis as a window on what happens: what the archive takes from it, and trims."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from driftfold_workers.jobs.excerpt import Excerpt
from driftfold_workers.queue.transition import transition
from driftfold_workers.redis.job_hash import to_event, to_job
from driftfold_workers.redis.keys import KEEP
from driftfold_workers.redis.link import RedisLink
from driftfold_workers.redis.logs import check_first
from driftfold_workers.redis.script import read

Charge = Literal["begins", "goes on", "another"]
"""Who fills the archive: this one from now on, this one as before, or another one."""

MARGIN = 2000  # records that stay for those who read along
EVENTS_MARGIN = 500  # lifecycle events that stay likewise
OFFERED = 1000  # jobs that one command offers


class RedisWindow:
    """What is not recorded yet. Nothing is trimmed or forgotten before it was."""

    def __init__(
        self,
        link: RedisLink,
        *,
        margin: int = MARGIN,
        events_margin: int = EVENTS_MARGIN,
        keep: float = KEEP,
    ) -> None:
        self._link = link
        self._keys = link.keys
        self._margin = margin
        self._events_margin = events_margin
        self._keep = keep

    async def lead(self, name: str, lease: float) -> Charge:
        """Ask to be the one who fills the archive for `lease` seconds; 0 gives it up."""
        args = (name, round(lease * 1000))
        charge = await self._link.script(read("window/lead"), [self._keys.recorder], *args)
        return ("another", "goes on", "begins")[charge]

    async def own(self, archive: str, *, take: bool = False) -> str:
        """Return the id of the archive that the job store belongs to.

        One that belongs to none becomes the asking one's; with `take` any does. All its jobs are
        then offered to be recorded, those that are in the archive, too.
        """
        key = self._keys.archive

        async def read(redis: Any) -> Any:
            return await redis.get(key)

        owner = await self._link.call(read)
        if owner is None or (take and owner.decode() != archive):
            await self._offer_all()
            await self._link.call(lambda redis: redis.set(key, archive, nx=not take))
            owner = await self._link.call(read)
        return str(owner.decode())

    async def _offer_all(self) -> None:
        async def send(redis: Any) -> Any:
            jobs = await redis.zrange(self._keys.jobs(), 0, -1)
            pipe = redis.pipeline(transaction=False)
            for first in range(0, len(jobs), OFFERED):
                pipe.sadd(self._keys.unrecorded, *jobs[first : first + OFFERED])
            return await pipe.execute()

        await self._link.call(send)

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
        check_first(job, "record", after, records, told.seq)
        check_first(job, "lifecycle event", events_after, events, int(raw[b"events"]))
        return Excerpt(
            told,
            after + 1,
            [fields[b"record"] for _, fields in records],
            [to_event(number, fields) for number, fields in events],
        )

    async def whole(self, job: str, *, limit: int) -> Excerpt | None:
        """Return what there is of a job, from the first record that was not trimmed.

        At most `limit` records. None when it was deleted.
        """

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=True)
            pipe.xrange(self._keys.records(job), count=limit)
            pipe.xrange(self._keys.events(job))
            pipe.hgetall(self._keys.job(job))
            return await pipe.execute()

        records, events, raw = await self._link.call(send)
        if not raw:
            return None
        told = to_job(job, raw)
        return Excerpt(
            told,
            int(records[0][0].partition(b"-")[0]) if records else told.seq + 1,
            [fields[b"record"] for _, fields in records],
            [to_event(number, fields) for number, fields in events],
            whole=True,
        )

    async def recorded(self, job: str, seq: int, events: int) -> bool:
        """Take note that records and events up to two numbers are safe; whether that is all."""
        args = (seq, events, self._margin, self._events_margin, round(self._keep * 1000))
        return bool(await transition(self._link, "window/recorded", job, *args))

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
        await transition(self._link, "delete", job)

    async def uncleared(self, jobs: Sequence[str]) -> Sequence[str]:
        """Return those of some jobs that nobody has cleared up after."""
        key = self._keys.uncleared
        scores = await self._link.call(lambda redis: redis.zmscore(key, jobs)) if jobs else ()
        return [job for job, score in zip(jobs, scores, strict=True) if score is not None]

    async def leaving(self, limit: int) -> Sequence[str]:
        """Return jobs that may be forgotten: their end was recorded long ago."""

        async def send(redis: Any) -> Any:
            seconds, micros = await redis.time()
            now = seconds * 1000 + micros // 1000
            return await redis.zrange(
                self._keys.archived, "-inf", now, byscore=True, offset=0, num=limit
            )

        return [job.decode() for job in await self._link.call(send)]
