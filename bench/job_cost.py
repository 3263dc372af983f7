"""What a job costs beside a run of the same experiment in a process of its own."""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.serving import Connection, serving, tree_cpu
from driftfold_workers.redis.embedded import EmbeddedServer
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
    claimed, first, end = b'"claimed"', b"\nid: ", b"event: end"
    came = await watcher.moments(claimed, first, end)
    watcher.writer.close()
    connection.writer.close()
    await asyncio.sleep(0.5)  # its process has ended, and is counted
    cpu = tree_cpu(*roots) - cpu
    told = (await store.get(made)).result or {}
    return {
        "wall": came[end] - wall,
        "cpu": cpu,
        "child_cpu": told["timing"]["cpu"],
        "child_wall": told["timing"]["wall"],
        "first_record": came[first] - came[claimed],
        "digest": told["event_digest"],
    }


async def compare(name: str, rounds: int, turns: int, folder: Path) -> dict[str, Any]:
    """Run a specification as a job and as a process of its own, in turn.

    `child` is the same call of `run`, timed by itself, in the process of the job.
    """
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
                    "child_wall_s": ours["child_wall"],
                    "child_cpu_s": ours["child_cpu"],
                    "claim_to_first_record_s": ours["first_record"],
                    "process_wall_s": alone["process_wall"],
                    "process_cpu_s": alone["process_cpu"],
                    "run_wall_s": alone["wall"],
                    "run_cpu_s": alone["cpu"],
                    "child_cpu_to_run": ours["child_cpu"] / alone["cpu"],
                    "child_wall_to_run": ours["child_wall"] / alone["wall"],
                    "wall_to_process": ours["wall"] / alone["process_wall"],
                    "wall_to_run": ours["wall"] / alone["wall"],
                    "cpu_to_process": ours["cpu"] / alone["process_cpu"],
                    "cpu_to_run": ours["cpu"] / alone["cpu"],
                }.items():
                    kept.setdefault(key, []).append(value)
    return {"rounds": rounds, "turns": turns} | {
        key: round(statistics.median(values), 4) for key, values in kept.items()
    }
