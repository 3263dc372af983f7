"""Who is there: signs of life of workers, in Redis."""

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from driftfold import __version__
from driftfold_workers.jobs.canonical import to_json
from driftfold_workers.jobs.census import Census
from driftfold_workers.redis.census import take_census
from driftfold_workers.redis.link import to_ms
from driftfold_workers.redis.logs import RedisLogs
from driftfold_workers.redis.script import read


class RedisPresence(RedisLogs):
    """Workers that announce themselves; `RedisListing` adds jobs."""

    async def announce(self, worker: str, kinds: Sequence[str], slots: int, ttl: float) -> None:
        """Tell that a worker is there for the next `ttl` seconds (0: it goes), with its kinds.

        And where it is: it speaks for itself, so on this machine.
        """
        here = {"host": socket.gethostname(), "version": __version__}
        facts = to_json({"kinds": sorted(set(kinds)), "slots": slots, **here})
        await self._link.script(
            read("redis/announce"), [self.keys.workers], worker, to_ms(ttl), facts
        )

    async def workers(self) -> Sequence[Mapping[str, Any]]:
        """Workers that are there: name, kinds, slots, jobs running, seconds since the last sign.

        And their host and version, unless they are of one that did not tell.
        """

        async def send(redis: Any) -> Any:
            jobs = [job.decode() for job in await redis.zrange(self.keys.lease, 0, -1)]
            pipe = redis.pipeline(transaction=False)
            for job in jobs:
                pipe.hget(self.keys.job(job), "worker")
            return zip(jobs, await pipe.execute(), strict=True)

        running = [(job, worker.decode()) for job, worker in await self._link.call(send) if worker]
        return [
            {**facts, "name": name, "seen": age}
            | {"jobs": sorted(job for job, worker in running if worker == name)}
            for name, age, facts in (await self._present())[1]
        ]

    async def census(self) -> Census:
        """Return how much there is of what."""
        return await take_census(self._link)

    async def _present(self) -> tuple[float, Sequence[tuple[str, float, Any]]]:
        """Return the time, and who is there: name, seconds since the last sign, what it told."""

        async def send(redis: Any) -> Any:
            pipe = redis.pipeline(transaction=False)
            pipe.time()
            pipe.hgetall(self.keys.workers)
            return await pipe.execute()

        (seconds, micros), raw = await self._link.call(send)
        now, present = seconds * 1000 + micros / 1000, []
        for name, text in sorted(raw.items()):
            seen, until, facts = text.decode().split(" ", 2)
            if float(until) > now:
                present.append((name.decode(), (now - float(seen)) / 1000, json.loads(facts)))
        return now / 1000, present
