"""What a delivered event costs the API: few who watch, thousands, and some who stall."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from bench.bare_writes import bare_writes
from bench.crowd import Crowd, crowd, stalled
from bench.job_cost import TINY
from bench.serving import cpu_of, memory_of
from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_line
from driftfold_workers.redis_store import RedisJobStore

WORKER, KINDS = "bench", ["bench:bench"]


@dataclass(frozen=True)
class Place:
    """The service that is measured: the port and the process of its API, and its job store."""

    port: int
    api: int
    store: RedisJobStore
    redis: str


@dataclass
class Running:
    """A job that the bench itself runs."""

    id: str
    epoch: int
    last: int = 0

    async def append(self, store: RedisJobStore, count: int, note: str = "") -> None:
        """Tell some records."""
        first, self.last = self.last + 1, self.last + count
        lines = [
            to_line(
                Record(seq, "round", 60.0 * seq, seq, {"loss": 0.5 / seq, "gap": 1.0}, note=note)
            )
            for seq in range(first, self.last + 1)
        ]
        await store.append(self.id, self.epoch, first, lines, rounds=self.last)


async def begin(place: Place, count: int) -> list[Running]:
    """Begin jobs."""
    begun = []
    for _ in range(count):
        made = await place.store.submit({**TINY, "horizon": {"rounds": 10}}, KINDS)
        claim = await place.store.claim(WORKER, KINDS, 3600.0)
        assert claim is not None
        begun.append(Running(made.id, claim.epoch))
    return begun


async def end(place: Place, jobs: Sequence[Running]) -> None:
    """Give jobs up."""
    for job in jobs:
        await place.store.release(job.id, job.epoch, reason="", counted=True, attempts=1)


async def deliver(
    place: Place,
    watching: Crowd,
    jobs: Sequence[Running],
    appends: int,
    batch: int,
    each: int,
    note: str = "",
) -> dict[str, float]:
    """Append to jobs in turn; return CPU us of the API for each event that one reader got.

    `each` is how many of its marks a watcher sees of one append to every job. A lag is by how many
    of these some watcher was behind another one.
    """
    spent, lag = 0.0, 0
    size = 0
    for append in range(appends + 1):
        before = watching.size
        wanted = watching.watchers[0].seen + each
        cpu = cpu_of(place.api)
        for job in jobs:
            await job.append(place.store, batch, note)
        lag = max(lag, watching.until(wanted))
        if append:  # the first warms up
            spent += cpu_of(place.api) - cpu
            size += watching.size - before
    events = appends * each * len(watching.watchers)
    return {"api_cpu_us": spent / events * 1e6, "bytes": size / events, "worst_lag_events": lag}


async def few(place: Place, subscribers: int, appends: int, batch: int) -> dict[str, float]:
    """Measure some who watch five jobs, each one of them."""
    jobs = await begin(place, 5)
    paths = [f"/v1/jobs/{jobs[number % 5].id}/events" for number in range(subscribers)]
    with crowd(place.port, paths) as watching:
        told = await deliver(place, watching, jobs, appends, batch, batch)
    await end(place, jobs)
    bare = bare_writes(round(told["bytes"] * batch), subscribers, 20) / batch
    return {**told, "bare_write_cpu_us": bare, "ratio": told["api_cpu_us"] / bare}


async def multiplexed(place: Place, subscribers: int, appends: int) -> dict[str, float]:
    """Measure some who watch five jobs on one stream."""
    jobs = await begin(place, 5)
    path = f"/v1/events?jobs={','.join(job.id for job in jobs)}"
    with crowd(place.port, [path] * subscribers, b'{"seq":') as watching:
        told = await deliver(place, watching, jobs, appends, 1, 5)
    await end(place, jobs)
    return told


async def many(place: Place, subscribers: int, appends: int) -> dict[str, Any]:
    """Measure thousands who watch five jobs."""
    jobs = await begin(place, 5)
    paths = [f"/v1/jobs/{jobs[number % 5].id}/events" for number in range(subscribers)]
    memory = memory_of(place.api)
    with crowd(place.port, paths) as watching:
        told = await deliver(place, watching, jobs, appends, 1, 1)
        told |= {"memory_kb_each": (memory_of(place.api) - memory) / subscribers * 1e3}
        async with Redis.from_url(place.redis, protocol=2) as redis:
            known = await redis.client_list()
        told["redis_connections"] = len(known) - 3  # this one, and those of the store that appends
    await end(place, jobs)
    return {"subscribers": subscribers, **told}


async def with_stalled(place: Place, subscribers: int, stall: int, appends: int) -> dict[str, Any]:
    """Measure the same readers without and with some that read nothing, records of 1 kB."""
    told: dict[str, Any] = {"readers": subscribers, "stalled": stall}
    for name, others in (("without", 0), ("with", stall)):
        jobs = await begin(place, 1)
        path = f"/v1/jobs/{jobs[0].id}/events"
        with (
            crowd(place.port, [path] * subscribers) as watching,
            stalled(place.port, [path] * others),
        ):
            memory = memory_of(place.api)
            found = await deliver(place, watching, jobs, appends, 100, 100, "x" * 900)
            told[name] = {**found, "memory_mb": memory_of(place.api) - memory}
        await end(place, jobs)
    told["memory_mb"] = told["with"]["memory_mb"] - told["without"]["memory_mb"]
    told["cpu_ratio"] = told["with"]["api_cpu_us"] / told["without"]["api_cpu_us"]
    return told


def bare_events(size: int, subscribers: int, turns: int) -> float:
    """Return CPU us of an event that uvicorn and its loop send, with nothing else around them."""
    command = [sys.executable, "-m", "bench.bare_streams"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            body = b"id: 1\ndata: " + b"x" * (size - 13) + b"\n\n"
            spent = 0.0
            with crowd(port, ["/"] * subscribers, b"id: ") as watching:
                for turn in range(1, turns + 1):
                    cpu = cpu_of(process.pid)
                    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body)
                    urllib.request.urlopen(request).close()
                    watching.until(turn)
                    spent += cpu_of(process.pid) - cpu
        finally:
            process.kill()
    return spent / (turns * subscribers) * 1e6


def rounded(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table of figures with three digits behind the point."""
    told: dict[str, Any] = json.loads(
        json.dumps(table), parse_float=lambda text: round(float(text), 3)
    )
    return told
