"""Cost of the service: submissions, delivered events, and jobs against plain runs.

Starts a job store and `driftfold serve` on the loopback interface, and prints one JSON object.
CPU is that of whole processes, from their CPU clocks; `threads` is the number of threads that the
linear algebra of each may use. Arms take turns; medians over the turns are compared.

    python -m bench.service [--quick]
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.job_cost import JOBS, compare
from bench.posting import equal_submissions, submissions
from bench.serving import serving
from bench.streaming import (
    Place,
    bare_events,
    few,
    many,
    multiplexed,
    rounded,
    with_stalled,
)
from driftfold_api.descriptors import allow_many
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    posts: int = 1000
    post_turns: int = 3
    equal: int = 100
    subscribers: int = 500
    appends: int = 20
    event_turns: int = 3
    crowd: int = 5000
    crowd_appends: int = 8
    stalled: tuple[int, int, int] = (100, 50, 60)  # readers, stalled, appends of 100 kB
    rounds: tuple[int, int] = (400, 4000)  # about 4 s each
    job_turns: int = 5


QUICK = Sizes(40, 1, 10, 20, 3, 1, 50, 2, (4, 2, 3), (3, 20), 1)


async def streams(place: Place, sizes: Sizes) -> dict[str, Any]:
    """Measure delivered events."""
    told: dict[str, Any] = {"subscribers": sizes.subscribers, "jobs": 5}
    for batch in (1, 10):
        turns = [
            await few(place, sizes.subscribers, sizes.appends, batch)
            for _ in range(sizes.event_turns)
        ]
        told[f"{batch} records an append"] = medians(turns)
    size = round(told["1 records an append"]["bytes"])
    told["uvicorn alone, cpu_us"] = statistics.median(
        bare_events(size, sizes.subscribers, sizes.appends) for _ in range(sizes.event_turns)
    )
    told["five jobs on one stream"] = await multiplexed(place, sizes.subscribers, sizes.appends)
    told["crowd"] = await many(place, sizes.crowd, sizes.crowd_appends)
    told["stalled readers"] = await with_stalled(place, *sizes.stalled)
    return told


async def posts(place: Place, sizes: Sizes) -> dict[str, Any]:
    """Measure submissions."""
    turns: dict[int, list[dict[str, float]]] = {1: [], 20: []}
    for _ in range(sizes.post_turns):
        for clients, kept in turns.items():
            kept.append(await submissions(place.port, place.api, clients, sizes.posts))
    told: dict[str, Any] = {
        f"{clients} connections": medians(kept) for clients, kept in turns.items()
    }
    told["equal, with one key"] = await equal_submissions(place.port, sizes.equal)
    return told


async def measure(sizes: Sizes) -> dict[str, Any]:
    """Measure all, one after the other; jobs have a service of their own."""
    jobs: dict[str, Any] = {}
    with TemporaryDirectory(prefix="driftfold-") as name:
        folder = Path(name)
        for (kind, rounds), part in zip(zip(JOBS, sizes.rounds, strict=True), "ab", strict=True):
            jobs[kind] = await compare(kind, rounds, sizes.job_turns, folder / part)
        with (
            EmbeddedServer.open(folder / "redis") as redis,
            serving(folder, redis.url, 0) as (port, api),
        ):
            async with RedisJobStore.open(redis.url) as store:
                place = Place(port, api, store, redis.url)
                told = {"delivered_event": await streams(place, sizes)}
                told["submit"] = await posts(place, sizes)
    return rounded({**told, "job": jobs})


def medians(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, rough figures")
    sizes = QUICK if parser.parse_args().quick else Sizes()
    allow_many()
    load = os.getloadavg()[0]
    figures = asyncio.run(measure(sizes))
    told = {"threads": 1, "python": platform.python_version(), "cpus": os.cpu_count()}
    told["load_before"] = round(load, 2)
    print(json.dumps({**told, **figures}, indent=2))


if __name__ == "__main__":
    main()
