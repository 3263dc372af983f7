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
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.bare_writes import bare_writes
from bench.serving import Connection, cpu_of, serving, tree_cpu
from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_line
from driftfold_workers.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore

PLAIN = """
import json, sys, time
from pathlib import Path
from driftfold.run import run
from driftfold.spec import load_spec
spec = load_spec(json.loads(sys.argv[1]))
begun = time.perf_counter(), time.process_time()
result = run(spec, folder=Path(sys.argv[2]))
spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
print(json.dumps({"wall": spent[0], "cpu": spent[1], "process_cpu": time.process_time(),
                  "rounds": result.rounds, "digest": result.event_digest}))
"""
TINY = {
    "task": {
        "kind": "pca",
        "rank": 2,
        "data": {"kind": "gaussian_blocks", "clients": 4, "samples": 10, "dimension": 10},
    },
    "algorithm": {"kind": "rfedags", "steps": 1, "batch": "full", "step_size": 6e-3},
    "latency": {"kind": "lognormal"},
    "evaluate_every": 10,
}
JOBS: dict[str, dict[str, Any]] = {"real images": {"extends": "fashion-subspace"}, "tiny": TINY}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    posts: int = 1000
    post_turns: int = 5
    subscribers: int = 500
    watched: int = 5
    appends: int = 40
    event_turns: int = 3
    rounds: tuple[int, int] = (400, 4000)  # about 4 s each
    job_turns: int = 3


QUICK = Sizes(30, 1, 20, 2, 3, 1, (3, 20), 1)


async def submissions(port: int, api: int, connections: int, posts: int) -> tuple[float, float]:
    """Return requests a second, and CPU milliseconds of the API for each."""
    body = json.dumps({"spec": {**TINY, "horizon": {"rounds": 10}}}).encode()
    all_of_them = [await Connection.open(port) for _ in range(connections)]

    async def send(connection: Connection) -> None:
        for _ in range(posts // connections):
            await connection.post(body)

    await all_of_them[0].post(body)
    wall, cpu = time.perf_counter(), cpu_of(api)
    await asyncio.gather(*map(send, all_of_them))
    wall, cpu = time.perf_counter() - wall, cpu_of(api) - cpu
    for connection in all_of_them:
        connection.writer.close()
    sent = posts // connections * connections
    return sent / wall, cpu / sent * 1e3


async def deliveries(
    port: int, api: int, store: RedisJobStore, sizes: Sizes, batch: int
) -> tuple[float, float]:
    """Return CPU microseconds of the API for a delivered event, and the bytes of one."""
    watched: list[tuple[str, int]] = []
    for _ in range(sizes.watched):
        made = await store.submit({**TINY, "horizon": {"rounds": 10}}, ["bench:bench"])
        claim = await store.claim("bench", ["bench:bench"], 600.0)
        assert claim is not None
        watched.append((made.id, claim.epoch))
    streams = []
    for number in range(sizes.subscribers):
        stream = await Connection.open(port)
        await stream.ask("GET", f"/v1/jobs/{watched[number % sizes.watched][0]}/events")
        await stream.until(b'"claimed"')
        streams.append(stream)
    spent, size = 0.0, 0
    for append in range(sizes.appends + 1):
        first = append * batch + 1
        lines = [
            to_line(Record(seq, "round", 60.0 * seq, seq, {"loss": 0.5 / seq, "gap": 1.0 / seq}))
            for seq in range(first, first + batch)
        ]
        cpu = cpu_of(api)
        for job, epoch in watched:
            await store.append(job, epoch, first, lines, rounds=first + batch - 1)
        got = await asyncio.gather(*(stream.until(b"\nid: ", batch) for stream in streams))
        if append:  # the first warms up
            spent += cpu_of(api) - cpu
            size += sum(got)
    for stream in streams:
        stream.writer.close()
    for job, epoch in watched:
        await store.release(job, epoch, reason="", counted=True, attempts=1)
    events = sizes.appends * batch * len(streams)
    return spent / events * 1e6, size / events


def plain(spec: Any, folder: Path) -> dict[str, Any]:
    """Run an experiment in a process of its own, which keeps what a job of the service keeps."""
    wall = time.perf_counter()
    command = [sys.executable, "-c", PLAIN, json.dumps(spec), str(folder)]
    told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return {**told, "process_wall": time.perf_counter() - wall}


async def job(port: int, spec: Any, store: RedisJobStore, roots: Sequence[int]) -> dict[str, Any]:
    """Run it as a job that one subscriber watches; all processes of the service count."""
    connection, watcher = await Connection.open(port), await Connection.open(port)
    wall, cpu = time.perf_counter(), tree_cpu(*roots)
    made = await connection.post(json.dumps({"spec": spec}).encode())
    await watcher.ask("GET", f"/v1/jobs/{made}/events")
    await watcher.until(b"event: end")
    wall = time.perf_counter() - wall
    watcher.writer.close()
    connection.writer.close()
    await asyncio.sleep(0.5)  # its process has ended, and is counted
    cpu = tree_cpu(*roots) - cpu
    told = (await store.get(made)).result or {}
    return {"wall": wall, "cpu": cpu, "digest": told["event_digest"]}


async def compare(name: str, rounds: int, turns: int, folder: Path) -> dict[str, Any]:
    """Run a specification as a job and as a process of its own, in turn."""
    spec = {**JOBS[name], "horizon": {"rounds": rounds}}
    kept: dict[str, list[float]] = {}
    with (
        EmbeddedServer.open(folder / "redis") as redis,
        serving(folder, redis.url, 1) as (port, api),
    ):
        roots = (api, redis.pid)
        async with RedisJobStore.open(redis.url) as store:
            short = {**spec, "horizon": {"rounds": 1}}
            await job(port, short, store, roots)  # the worker is there and warm
            for turn in range(turns):
                alone = plain(spec, folder / f"plain {turn}")
                ours = await job(port, spec, store, roots)
                assert ours["digest"] == alone["digest"]
                for key, value in {
                    "rounds_per_second": rounds / alone["wall"],
                    "job_wall_s": ours["wall"],
                    "job_cpu_s": ours["cpu"],
                    "process_wall_s": alone["process_wall"],
                    "process_cpu_s": alone["process_cpu"],
                    "run_wall_s": alone["wall"],
                    "run_cpu_s": alone["cpu"],
                    "wall_to_process": ours["wall"] / alone["process_wall"],
                    "wall_to_run": ours["wall"] / alone["wall"],
                    "cpu_to_process": ours["cpu"] / alone["process_cpu"],
                    "cpu_to_run": ours["cpu"] / alone["cpu"],
                }.items():
                    kept.setdefault(key, []).append(value)
    return {"rounds": rounds, "turns": turns} | {
        key: round(statistics.median(values), 3) for key, values in kept.items()
    }


async def measure(sizes: Sizes) -> dict[str, Any]:
    """Measure all, one after the other; jobs have a service of their own."""
    submit: dict[str, Any] = {}
    events: dict[str, Any] = {"subscribers": sizes.subscribers, "jobs": sizes.watched}
    jobs: dict[str, Any] = {}
    with TemporaryDirectory(prefix="driftfold-") as name:
        folder = Path(name)
        with (
            EmbeddedServer.open(folder / "redis") as redis,
            serving(folder, redis.url, 0) as (port, api),
        ):
            async with RedisJobStore.open(redis.url) as store:
                for batch in (1, 10):
                    kept = []
                    for _ in range(sizes.event_turns):
                        cpu, size = await deliveries(port, api, store, sizes, batch)
                        bare = bare_writes(round(size * batch), sizes.subscribers, 20) / batch
                        kept.append((cpu, bare, cpu / bare, size))
                    names = ("api_cpu_us", "bare_write_cpu_us", "ratio", "bytes")
                    events[f"{batch} records an append"] = medians(names, kept)
            turns: dict[int, list[tuple[float, ...]]] = {1: [], 20: []}
            for _ in range(sizes.post_turns):
                for connections, rates in turns.items():
                    rates.append(await submissions(port, api, connections, sizes.posts))
            for connections, rates in turns.items():
                of_posts = ("requests_per_second", "api_cpu_ms")
                submit[f"{connections} connections"] = medians(of_posts, rates)
        for (kind, rounds), place in zip(zip(JOBS, sizes.rounds, strict=True), "ab", strict=True):
            jobs[kind] = await compare(kind, rounds, sizes.job_turns, folder / place)
    return {"submit": submit, "delivered_event": events, "job": jobs}


def medians(names: Sequence[str], rows: Sequence[tuple[float, ...]]) -> dict[str, float]:
    """Return the median of each column."""
    columns = zip(*rows, strict=True)
    return {n: round(statistics.median(c), 3) for n, c in zip(names, columns, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, rough figures")
    sizes = QUICK if parser.parse_args().quick else Sizes()
    load = os.getloadavg()[0]
    figures = asyncio.run(measure(sizes))
    told = {"threads": 1, "python": platform.python_version(), "cpus": os.cpu_count()}
    told["load_before"] = round(load, 2)
    print(json.dumps({**told, **figures}, indent=2))


if __name__ == "__main__":
    main()
