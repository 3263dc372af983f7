"""The worker's half of the queue: claim, renew, tell, give back, and take back what was lost."""

import asyncio
import json
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, get_args

from driftfold_workers.jobs.job import Claim, State
from driftfold_workers.jobs.store import NO_SIGN, Beat, StoreError
from driftfold_workers.jobs.usage import Usage
from driftfold_workers.queue.server_age import ServerAge
from driftfold_workers.queue.transition import transition
from driftfold_workers.queue.users import RedisUsers
from driftfold_workers.redis.job_hash import to_job
from driftfold_workers.redis.link import RedisLink, to_ms
from driftfold_workers.redis.script import read

BEATS: Mapping[bytes, Beat] = {beat.encode(): beat for beat in get_args(Beat)}
PAGE = 50  # queued jobs that are looked at in one go
Place: TypeAlias = tuple[float, bytes]  # in the queue: the score of a job, and its id
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between attempts that bring a job no further
FAR = (
    60.0  # seconds: what is due later than this may have been put down before a clock was set back
)


class RedisQueue(RedisUsers):
    """Leases, and what an attempt writes, which counts only while its epoch is the job's."""

    def __init__(self, link: RedisLink) -> None:
        super().__init__(link)
        self._age = ServerAge()

    async def claim(
        self, worker: str, kinds: Sequence[str], lease: float, wait: float = 0.0
    ) -> Claim | None:
        """Take the oldest queued job whose needs `kinds` covers; wait up to `wait` seconds.

        Canceled while a claim is on its way, it gives the job back.
        """
        having = set(kinds)
        with self._bell.listen("", wait) as waiter:
            while True:
                taking = asyncio.create_task(self._take(worker, having, lease))
                try:
                    claim = await asyncio.shield(taking)
                except asyncio.CancelledError:
                    await _seen_through(self._give_back(taking))
                    raise
                if claim or wait <= 0 or not await waiter.again():
                    return claim

    async def heartbeat(
        self, job: str, epoch: int, lease: float, used: Usage | None = None
    ) -> Beat:
        """Renew a lease; take down what the job has used up."""
        args = (epoch, to_ms(lease), *_told(used))
        beat: bytes = await transition(self._link, "heartbeat", job, *args)
        return BEATS[beat]

    async def append(
        self,
        job: str,
        epoch: int,
        first: int,
        records: Sequence[bytes],
        *,
        checkpoint: str | None = None,
        rounds: int | None = None,
    ) -> int:
        """Append records in one atomic step with the checkpoint pointer and the round count.

        A checkpoint vouches for all records up to the last of these, stored now or before. So
        with no records `first` is one more than the number that the checkpoint stands at.
        """
        if first < 1:
            raise StoreError(f"records are numbered from 1 on, not from {first}")
        facts = (checkpoint or "", "" if rounds is None else rounds)
        last = await transition(self._link, "append", job, epoch, first, *facts, *records)
        return int(last)

    async def finish(
        self,
        job: str,
        epoch: int,
        state: State,
        *,
        reason: str = "",
        result: Mapping[str, Any] | None = None,
        outcome: str = "",
        used: Usage | None = None,
    ) -> None:
        """End the job in a final state. A stale epoch raises `Fenced`."""
        if not state.final:
            raise StoreError(f"a job does not end {state}; give succeeded, failed or canceled")
        text = "" if result is None else json.dumps(result, default=dict, separators=(",", ":"))
        args = (epoch, state, reason, text, outcome, *_told(used))
        await transition(self._link, "finish", job, *args)

    async def release(
        self,
        job: str,
        epoch: int,
        *,
        reason: str,
        counted: bool,
        attempts: int,
        back_off: bool = False,
        outcome: str = "",
        used: Usage | None = None,
    ) -> State:
        """Give the job back; it stands at the head of its priority.

        A job that is being canceled ends canceled instead.
        """
        pauses = (to_ms(FIRST_PAUSE) if back_off else 0, to_ms(LONGEST_PAUSE))
        args = (epoch, reason, outcome, int(counted), attempts, *pauses, 0, *_told(used))
        return State((await transition(self._link, "release", job, *args)).decode())

    async def reap(self, attempts: int) -> Sequence[str]:
        """Take back every job whose lease is over; let those begin again whose pause is over.

        After a restart of the server each lease has its full length once more, for nobody could
        renew it meanwhile. So it has when the server's clock was set back, and a pause is over.
        """

        async def send(redis: Any) -> Any:
            seconds, micros = await redis.time()
            now = seconds * 1000 + micros // 1000
            pipe = redis.pipeline(transaction=False)
            for key in (self.keys.later, self.keys.delayed, self.keys.lease):
                pipe.zrange(key, "-inf", now, byscore=True)
            for key in (self.keys.delayed, self.keys.lease):
                pipe.zrange(key, now + to_ms(FAR), "+inf", byscore=True)
            come, rested, lost, resting, leased = await pipe.execute()
            facts = await redis.info("server") if lost else None
            return come + rested + resting, lost + leased, facts

        waited, lost, facts = await self._link.call(send)
        uptime = 0.0 if facts is None else self._age.at_least(facts)
        for job in waited:
            await transition(self._link, "promote", job.decode(), to_ms(LONGEST_PAUSE))
        pauses = to_ms(FIRST_PAUSE), to_ms(LONGEST_PAUSE)
        reaped = []
        for job in (name.decode() for name in lost):
            args = ("", NO_SIGN, "lease lost", 1, attempts, *pauses, uptime, *_told(None))
            if await transition(self._link, "release", job, *args):
                reaped.append(job)
        return reaped

    async def uncleared(self, limit: int, pause: float) -> Sequence[str]:
        """Return jobs that ended more than a lease ago and after which nobody has cleared up."""
        script, keys = read("queue/scripts/uncleared"), [self.keys.uncleared]
        found = await self._link.script(script, keys, limit, to_ms(pause))
        return [job.decode() for job in found]

    async def cleared(self, job: str) -> None:
        """Take note that of a job that is over nothing is left that only a run needs."""
        await self._link.call(lambda redis: redis.zrem(self.keys.uncleared, job))

    async def _take(self, worker: str, kinds: set[str], lease: float) -> Claim | None:
        """Claim the first queued job that fits and that nobody else takes meanwhile."""
        last: Place | None = None
        while True:
            queued = await self._queued(last)
            for (_, name), needs in queued:
                # Without needs it was taken since it was listed.
                if needs is not None and kinds.issuperset(json.loads(needs)):
                    job = name.decode()
                    raw = await transition(self._link, "claim", job, worker, to_ms(lease))
                    if raw:
                        taken = to_job(job, raw)
                        return Claim(taken, taken.epoch)
            if not queued:
                return None
            last = queued[-1][0]

    async def _queued(self, last: Place | None) -> Sequence[tuple[Place, bytes | None]]:
        """Return the queue after a place, a page of it: place, needs as JSON."""
        many = PAGE

        async def send(redis: Any) -> Any:
            first = "-inf" if last is None else repr(last[0])
            range_ = (self.keys.ready, first, "+inf")
            found = await redis.zrange(*range_, byscore=True, offset=0, num=many, withscores=True)
            places = [(score, name) for name, score in found]
            places = [place for place in places if last is None or place > last]
            needs = await redis.hmget(self.keys.needs, [name for _, name in places] or [b""])
            return len(found), list(zip(places, needs, strict=False))

        while True:
            listed, queued = await self._link.call(send)
            if queued or listed < many:
                return queued  # type: ignore[no-any-return]
            many *= 2  # more stand at one place than a page has

    async def _give_back(self, taking: "asyncio.Task[Claim | None]") -> None:
        with suppress(StoreError):  # else its lease will be over
            if claim := await taking:
                await self.release(
                    claim.job.id,
                    claim.epoch,
                    reason="the worker stopped before it began",
                    counted=False,
                    attempts=1,
                    outcome="drained",
                )


def _told(used: Usage | None) -> tuple[str, str]:
    """Return what a job has used up as scripts take it: seconds of CPU, and of running."""
    return ("", "") if used is None else (f"{used.cpu:.3f}", f"{used.wall:.3f}")


async def _seen_through(work: Coroutine[Any, Any, None]) -> None:
    """Await work to its end, however often this is canceled."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    task.result()
