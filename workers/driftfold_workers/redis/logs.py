"""What jobs have told, read from Redis: records and lifecycle events, now or as they come."""

from collections.abc import Sequence
from typing import Any

from driftfold_workers.jobs.job import LifecycleEvent, News, State, Turns
from driftfold_workers.jobs.store import JobStore, StoreError, Trimmed, UnknownJob
from driftfold_workers.redis.job_hash import to_event
from driftfold_workers.redis.keys import Keys
from driftfold_workers.redis.link import RedisLink
from driftfold_workers.redis.signals import Signals

QUEUED = State.QUEUED
TURNS_KEPT = 10_000  # as in prelude.lua


class RedisLogs(JobStore):
    """The logs of jobs; `RedisUsers` adds what users do to jobs."""

    def __init__(self, link: RedisLink) -> None:
        self.keys: Keys = link.keys
        self._link = link
        self._bell = Signals(link, link.keys.bell)
        self._pulse = Signals(link, link.keys.pulse)

    async def read(
        self, job: str, *, after: int = 0, limit: int = 1000, wait: float = 0.0
    ) -> Sequence[bytes]:
        """Records after number `after`, in order, each one JSON text."""
        records, over = await self._look(job, after, limit)
        if records or over or wait <= 0:
            return records
        with self._pulse.listen(job, wait) as waiter:
            while not (records or over):
                records, over = await self._look(job, after, limit)
                if not (records or over or await waiter.again()):
                    break
        return records

    async def events(
        self, job: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[LifecycleEvent]:
        """Lifecycle events of a job after number `after`."""
        pages, _ = await self._pages(job, limit, {self.keys.events(job): after})
        return [to_event(number, fields) for number, fields in pages[0]]

    async def turns(self, *, after: int = 0, limit: int = 1000) -> Turns:
        """Return jobs that first left the queue after turn `after`, in that order."""
        key = self.keys.turns

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=True)
            page = {"offset": 0, "num": limit, "withscores": True}
            pipe.zrange(key, f"({after}", "+inf", byscore=True, **page)
            pipe.zrange(key, 0, 0, withscores=True)
            pipe.zcard(key)
            return await pipe.execute()

        found, first, count = await self._link.call(send)
        # The oldest are forgotten first: where one up to `after` is kept, so are all after it.
        complete = first[0][1] <= after if after and first else count < TURNS_KEPT
        return Turns([(job.decode(), int(turn)) for job, turn in found], complete)

    async def active(self) -> tuple[int, Sequence[str]]:
        """Return the last turn, and ids of the jobs that have had theirs and are not over."""
        begun = [self.keys.jobs(state) for state in State if not (state.final or state is QUEUED)]

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=True)
            pipe.zrange(self.keys.turns, -1, -1, withscores=True)
            pipe.zinter([self.keys.turns, self.keys.jobs(QUEUED)])  # they had an attempt
            for key in begun:
                pipe.zrange(key, 0, -1)
            return await pipe.execute()

        last, *jobs = await self._link.call(send)
        turn = int(last[0][1]) if last else 0
        return turn, sorted(job.decode() for part in jobs for job in part)

    async def news(
        self,
        job: str,
        *,
        after: int = 0,
        events_after: int = 0,
        limit: int = 1000,
        wait: float = 0.0,
    ) -> News:
        """Records and lifecycle events after two numbers; waits for the first of either."""
        found = await self._news(job, after, events_after, limit)
        if _tells(found) or wait <= 0:
            return found
        with self._pulse.listen(job, wait) as waiter:
            while True:
                found = await self._news(job, after, events_after, limit)
                if _tells(found) or not await waiter.again():
                    return found

    async def _news(self, job: str, after: int, events_after: int, limit: int) -> News:
        places = {self.keys.records(job): after, self.keys.events(job): events_after}
        (records, events), (state, reason, seq, _) = await self._pages(job, limit, places)
        return News(
            records=[fields[b"record"] for _, fields in records],
            events=[to_event(number, fields) for number, fields in events],
            state=State(state),
            reason=reason,
            seq=int(seq),
        )

    async def _look(self, job: str, after: int, limit: int) -> tuple[Sequence[bytes], bool]:
        """Return records, and whether there will be no more."""
        pages, (state, *_) = await self._pages(job, limit, {self.keys.records(job): after})
        return [fields[b"record"] for _, fields in pages[0]], State(state).final

    async def _pages(self, job: str, limit: int, places: dict[str, int]) -> tuple[Any, list[str]]:
        """Return entries after a number in each stream; state, reason, seq and events just then."""
        if limit < 1 or min(places.values()) < 0:
            raise StoreError(
                f"cannot read {limit} entries after number {min(places.values())}; ask for one or "
                "more, after 0 or a later one"
            )

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=True)
            for key, after in places.items():
                pipe.xrange(key, min=f"{after + 1}-0", count=limit)
            pipe.hmget(self.keys.job(job), "state", "reason", "seq", "events")
            return await pipe.execute()

        *pages, facts = await self._link.call(send)
        if facts[0] is None:
            raise UnknownJob(f"no job has the id {job}")
        log = self.keys.records(job)
        for (key, after), page in zip(places.items(), pages, strict=True):
            what, last = ("record", facts[2]) if key == log else ("lifecycle event", facts[3])
            check_first(job, what, after, page, int(last))
        return pages, [fact.decode() for fact in facts]


def check_first(job: str, what: str, after: int, entries: Sequence[Any], last: int) -> None:
    """Raise `Trimmed` unless entries of a log begin where they should."""
    if last > after and not (entries and entries[0][0] == b"%d-0" % (after + 1)):
        first = int(entries[0][0].partition(b"-")[0]) if entries else last + 1
        raise Trimmed(f"{what} {after + 1} of job {job} is in the archive only", first)


def _tells(news: News) -> bool:
    return bool(news.records or news.events or news.state.final)
