"""Cost of the archive: accepting a job, and recording what jobs tell.

Prints one JSON object. The archive is a file of SQLite, or what --archive names; it is left with
what was written. The recorder's figures are those of the whole way from a job store on the loopback
interface to the disk.

    python -m bench.archive [--quick] [--archive URL]
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_line
from driftfold_api.archive.base import Wanted
from driftfold_api.archive.sql_archive import SqlArchive
from driftfold_api.recording.recorder import Recorder
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore

WANTED = Wanted({"task": {"kind": "pca", "rank": 2}, "seed": 7}, ["bench:bench"])
AT_ONCE = 20


async def accepting(archive: SqlArchive, jobs: int) -> dict[str, float]:
    """Accept jobs one after the other, and many at once."""
    alone = []
    for _ in range(jobs):
        begun = time.perf_counter()
        await archive.accept(WANTED)
        alone.append(time.perf_counter() - begun)

    async def several() -> None:
        for _ in range(jobs):
            await archive.accept(WANTED)

    begun, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(several() for _ in range(AT_ONCE)))
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    return {
        "one_ms": round(statistics.median(alone) * 1e3, 2),
        f"jobs_per_second_{AT_ONCE}_at_once": round(AT_ONCE * jobs / wall, 1),
        f"cpu_ms_{AT_ONCE}_at_once": round(cpu / (AT_ONCE * jobs) * 1e3, 3),
    }


async def recording(
    store: RedisJobStore, archive: SqlArchive, jobs: int, records: int
) -> dict[str, float]:
    """Record what jobs have told, from the job store to the disk."""
    size = 0
    for _ in range(jobs):
        job, _ = await archive.accept(WANTED)
        await store.enqueue(job)
        claim = await store.claim("bench", ["bench:bench"], 600.0)
        assert claim is not None
        for first in range(1, records + 1, 500):
            lines = [
                to_line(Record(seq, "round", 60.0 * seq, seq, {"loss": 0.5 / seq, "gap": 1 / seq}))
                for seq in range(first, min(first + 500, records + 1))
            ]
            size += sum(map(len, lines))
            await store.append(claim.job.id, claim.epoch, first, lines)
    recorder, fence = Recorder(store.window, archive), await archive.lead()
    begun, cpu, steps = time.perf_counter(), time.process_time(), 1
    while await recorder.step(fence):
        steps += 1
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    rows = jobs * records
    return {
        "rows": rows,
        "steps": steps,
        "rows_per_second": round(rows / wall),
        "cpu_us_a_row": round(cpu / rows * 1e6, 2),
        "bytes_a_record": round(size / rows, 1),
    }


async def measure(url: str | None, jobs: int, records: int) -> dict[str, Any]:
    """Measure all on an archive."""
    with TemporaryDirectory(prefix="driftfold-") as name:
        folder = Path(name)
        place = url or f"sqlite:///{folder / 'archive.sqlite'}"
        with EmbeddedServer.open(folder / "redis") as server:
            async with (
                RedisJobStore.open(server.url) as store,
                SqlArchive.open(place) as archive,
            ):
                accept = await accepting(archive, jobs)
                record = await recording(store, archive, 10, records)
    return {"accept": accept, "record": record}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, rough figures")
    parser.add_argument("--archive", metavar="URL", help="default: a file of SQLite")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    jobs, records = (5, 500) if asked.quick else (50, 10_000)
    told = asyncio.run(measure(asked.archive, jobs, records))
    print(json.dumps({"load_before": round(load, 2), **told}, indent=2))


if __name__ == "__main__":
    main()
