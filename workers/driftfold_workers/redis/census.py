"""Taking the census of the job store in Redis."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from driftfold_workers.jobs.census import WITHIN, Census, Line, Rank, read_counts
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.new_id import made
from driftfold_workers.jobs.place import first_place
from driftfold_workers.redis.keys import KEEP
from driftfold_workers.redis.link import RedisLink

RANGES: Mapping[Rank, tuple[str, str]] = {
    Rank.HIGH: ("-inf", f"({first_place(0)}"),
    Rank.NORMAL: (str(first_place(0)), f"({first_place(-1)}"),
    Rank.LOW: (str(first_place(-1)), "+inf"),
}
"""Places in the queue."""


async def take_census(link: RedisLink) -> Census:
    """Count what is there. All of it is asked for at once, and takes as long for many jobs."""
    keys, states = link.keys, list(State)

    async def send(redis: Any) -> Any:
        seconds, micros = await redis.time()
        now = seconds * 1000 + micros // 1000
        pipe = redis.pipeline(transaction=True)
        pipe.hgetall(keys.counts)
        pipe.hgetall(keys.workers)
        pipe.get(keys.recorder)
        for rank in RANGES.values():
            pipe.zcount(keys.ready, *rank)
            pipe.zrange(keys.ready, *rank, byscore=True, offset=0, num=1)
        for key in (keys.delayed, keys.later, keys.lease):
            pipe.zcard(key)
        pipe.scard(keys.held)
        pipe.zcard(keys.dead)
        pipe.scard(keys.unrecorded)
        # Each is there by the time until which it is kept, counted from when it was recorded.
        pipe.zcount(keys.archived, now + (KEEP - WITHIN) * 1000, "+inf")
        for state in states:
            pipe.zcard(keys.jobs(state))
        return now, await pipe.execute()

    now, (counts, workers, recorder, *found) = await link.call(send)
    line, rest = found[: 2 * len(RANGES)], found[2 * len(RANGES) :]
    delayed, later, running, held, dead, unrecorded, ended, *jobs = rest
    present = [facts for until, facts in map(_announced, workers.values()) if until > now]

    def waited(head: Sequence[bytes]) -> float:
        return max(now / 1000 - made(head[0].decode()), 0.0) if head else 0.0

    heads = zip(RANGES, line[::2], line[1::2], strict=True)
    return Census(
        jobs=dict(zip(states, jobs, strict=True)),
        lines={rank: Line(depth, waited(head)) for rank, depth, head in heads},
        delayed=delayed + later,
        held=held,
        dead=dead,
        running=running,
        slots=sum(facts["slots"] for facts in present),
        workers=len(present),
        unrecorded=unrecorded,
        ended=ended,
        recorder=(recorder or b"").decode(),
        counts=read_counts(counts),
    )


def _announced(text: bytes) -> tuple[float, Mapping[str, Any]]:
    _, until, facts = text.decode().split(" ", 2)
    return float(until), json.loads(facts)
