"""Taking the census of the job store in Redis."""

import json
from collections.abc import Mapping
from typing import Any

from driftfold_workers.census import WITHIN, Census, Line, Rank, read_counts
from driftfold_workers.job import State
from driftfold_workers.new_id import created_of
from driftfold_workers.redis_link import RedisLink
from driftfold_workers.redis_window import KEEP


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
        pipe.zcard(keys.ready)
        pipe.zrange(keys.ready, 0, 0, withscores=True)
        for key in (keys.delayed, keys.lease):
            pipe.zcard(key)
        pipe.scard(keys.unrecorded)
        # Each is there by the time until which it is kept, counted from when it was recorded.
        pipe.zcount(keys.archived, now + (KEEP - WITHIN) * 1000, "+inf")
        for state in states:
            pipe.zcard(keys.jobs(state))
        return now, await pipe.execute()

    (
        now,
        (counts, workers, recorder, depth, first, delayed, running, unrecorded, ended, *jobs),
    ) = await link.call(send)
    present = [facts for until, facts in map(_announced, workers.values()) if until > now]
    oldest = max(now / 1000 - created_of(first[0][1]), 0.0) if first else 0.0
    return Census(
        jobs=dict(zip(states, jobs, strict=True)),
        lines={rank: Line() for rank in Rank} | {Rank.NORMAL: Line(depth, oldest)},
        delayed=delayed,
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
