"""What a submission costs, and how long it takes, when many come at once."""

import asyncio
import json
import time
from typing import Any

from bench.job_cost import TINY
from bench.serving import Connection, cpu_of

BODY = json.dumps({"spec": {**TINY, "horizon": {"rounds": 10}}}).encode()


async def submissions(port: int, api: int, clients: int, posts: int) -> dict[str, float]:
    """Return requests a second, CPU milliseconds of the API for each, milliseconds of waiting."""
    connections = [await Connection.open(port) for _ in range(clients)]
    waits: list[float] = []

    async def send(connection: Connection) -> None:
        for _ in range(posts // clients):
            began = time.perf_counter()
            await connection.post(BODY)
            waits.append(time.perf_counter() - began)

    await connections[0].post(BODY)
    wall, cpu = time.perf_counter(), cpu_of(api)
    await asyncio.gather(*map(send, connections))
    wall, cpu = time.perf_counter() - wall, cpu_of(api) - cpu
    for connection in connections:
        connection.writer.close()
    return {
        "requests_per_second": len(waits) / wall,
        "api_cpu_ms": cpu / len(waits) * 1e3,
        **latencies(waits),
    }


async def equal_submissions(port: int, clients: int) -> dict[str, Any]:
    """Have clients send one request with one key at once; return how many jobs that makes."""
    connections = [await Connection.open(port) for _ in range(clients)]

    async def send(connection: Connection) -> tuple[str, float]:
        began = time.perf_counter()
        job = await connection.post(BODY, key="one-and-the-same")
        return job, time.perf_counter() - began

    answers = await asyncio.gather(*map(send, connections))
    for connection in connections:
        connection.writer.close()
    jobs = {job for job, _ in answers}
    return {"requests": clients, "jobs": len(jobs), **latencies([wait for _, wait in answers])}


def latencies(waits: list[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the largest of some waits, in ms."""
    ordered = sorted(waits)
    places = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    last = len(ordered) - 1
    return {name: ordered[round(share * last)] * 1e3 for name, share in places.items()}
