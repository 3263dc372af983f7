"""A virtual week of a large fleet: client updates a second, whatever the size of the fleet.

Runs the preset `fleet-week` as anybody would, with 100,000 clients and again with 1,000,000, and
prints one JSON object. Each run has a process of its own, with one thread; `cpu_s` is its CPU time
from the first event to the last, evaluations included, `engine_cpu_s` the tensor work's part of it,
`setup_s` the time before it. The clients behind the lazy stacks are computed one by one, too, on a
shorter stretch: `run_to_loop` is how many times as long the whole run then takes, `engine_to_loop`
the tensor work alone. SimPy's time is for the bare events: as many processes as clients in flight
sleep as often as the clients did, and do nothing.

    python -m bench.fleet [--quick]
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
from time import perf_counter, process_time
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from driftfold.compute.loop import LoopEngine
from driftfold.compute.stacked import StackedEngine
from driftfold.run import run
from driftfold.spec import load_spec

WEEK, STRETCH, QUICK = 604_800.0, 21_600.0, 7_200.0
FLEETS = {"100,000": 100_000, "1,000,000": 1_000_000}
QUICK_FLEETS = {"2,000": 2_000, "20,000": 20_000}
IN_FLIGHT = 1_000


def time_engine(kind: Any) -> list[float]:
    """Have the CPU seconds of an engine's work summed up in what is returned."""
    spent, bare = [0.0], kind.run

    def timed(self: Any, work: Any) -> Any:
        started = process_time()
        try:
            return bare(self, work)
        finally:
            spent[0] += process_time() - started

    kind.run = timed
    return spent


def week(clients: int, seconds: float, backend: str = "stacked") -> dict[str, Any]:
    """Run the fleet in this process and say what it took."""
    overrides = [
        f"task.clients={clients}",
        f"horizon.seconds={seconds}",
        f"compute={backend}",
        f"cadence.concurrency={IN_FLIGHT if clients >= 100_000 else 100}",
    ]
    spec = load_spec("fleet-week", overrides=overrides)
    engine = time_engine(StackedEngine if backend == "stacked" else LoopEngine)
    started, began = process_time(), perf_counter()
    result = run(spec)
    wall, cpu = perf_counter() - began, process_time() - started
    setup = result.timing["setup"]
    # Set-up is one thread that does not wait, so its CPU time is the same share of its wall time.
    live = cpu - min(cpu, setup * cpu / wall)
    accepted = result.counts["accepted"]
    return {
        "clients": clients,
        "virtual_s": result.time,
        "cpu_s": round(live, 2),
        "engine_cpu_s": round(engine[0], 2),
        "setup_s": round(cpu - live, 2),
        "wall_s": round(wall, 2),
        "accepted": accepted,
        "invited": result.counts["invited"],
        "dropped": result.counts["dropped"],
        "server_steps": result.rounds,
        "events": result.events,
        "accepted_per_cpu_s": round(accepted / live, 1),
        "events_per_cpu_s": round(result.events / live, 1),
        "cpu_us_per_accepted": round(1e6 * live / accepted, 1),
        "mean_stack": round(result.timing["mean_stack"], 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "loss": result.metrics["loss"],
        "event_digest": result.event_digest,
    }


def bare_events(events: int) -> dict[str, Any]:
    """Time SimPy and the kernel with so many sleeps of the processes in flight, and no work."""
    from driftfold import kernel

    draw = random.Random(1)
    delays = [draw.lognormvariate(0.0, 1.36) for _ in range(10_007)]
    sleeps = max(1, events // IN_FLIGHT)

    async def sleeper(number: int) -> None:
        for turn in range(sleeps):
            await kernel.sleep(delays[(31 * number + turn) % 10_007], number)

    async def everybody() -> None:
        import asyncio

        await asyncio.gather(*(sleeper(number) for number in range(IN_FLIGHT)))

    started = process_time()
    kernel.run(everybody())
    told: dict[str, Any] = {"events": sleeps * IN_FLIGHT}
    told["kernel_cpu_s"] = round(process_time() - started, 2)
    try:
        import simpy
    except ImportError:
        return {**told, "simpy": "not installed; pip install simpy compares with it"}
    environment = simpy.Environment()

    def process(number: int) -> Any:
        for turn in range(sleeps):
            yield environment.timeout(delays[(31 * number + turn) % 10_007])

    started = process_time()
    for number in range(IN_FLIGHT):
        environment.process(process(number))
    environment.run()
    return {**told, "simpy": simpy.__version__, "simpy_cpu_s": round(process_time() - started, 2)}


def apart(*arguments: Any) -> dict[str, Any]:
    """Run `week` in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "bench.fleet", "--one", json.dumps(arguments)]
    told: dict[str, Any] = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small fleets, two virtual hours")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(week(*json.loads(options.one))))
        return
    seconds, stretch = (QUICK, QUICK) if options.quick else (WEEK, STRETCH)
    fleets = QUICK_FLEETS if options.quick else FLEETS
    weeks = {name: apart(clients, seconds) for name, clients in fleets.items()}
    small, large = weeks.values()
    some = small["clients"]
    stacked, loop = (apart(some, stretch, backend) for backend in ("stacked", "loop"))
    keys = (
        "accepted",
        "cpu_s",
        "engine_cpu_s",
        "cpu_us_per_accepted",
        "mean_stack",
        "event_digest",
    )
    report = {
        "threads": 1,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "weeks": weeks,
        "large_to_small": round(large["cpu_us_per_accepted"] / small["cpu_us_per_accepted"], 3),
        "stretch": {
            "virtual_s": stretch,
            "stacked": {key: stacked[key] for key in keys},
            "loop": {key: loop[key] for key in keys},
            "run_to_loop": round(loop["cpu_s"] / stacked["cpu_s"], 2),
            "engine_to_loop": round(loop["engine_cpu_s"] / stacked["engine_cpu_s"], 2),
        },
        "bare_events": bare_events(small["events"]),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
