"""Speed on manifolds: driftfold's rounds and kernels beside loops over clients of other libraries.

Prints one JSON object. Times are CPU time on one thread, medians over repeats that take turns in
one process; ratios are how many times as long the loop takes. `round` is a whole round as the
simulator runs it (events, clients, weights, server step, records), `kernel` the local work of all
clients alone. Loops whose time is the same for every client run over few of them, as
`loop_clients` says, and are scaled. The server's step is part of the round and of the loops.

`scaling` gives the cost of a client's update and the peak memory of a fresh process for growing
fleets, both beyond what a process takes with the library imported and a run of 40 clients done.
`data_mb` is what the local work reads: the samples, and where a kernel takes second moments in
their place (`pca_gram`), these too. `stacked_models_mb` is one point for each client. The local
work and the set-up before it (`peak_mb`) are held against data + 3 stacked models. Whole rounds
(`peak_with_events_mb`) hold a coroutine and a ticket for each client in flight besides, which does
not depend on the models: `events_bytes_a_client` is what exceeds the limit.

    python -m bench.manifolds [--quick] [--repeats 9] [--only NAME]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # the library's own choice, for all alike
    os.environ.pop(name, None)

import numpy as np

from bench import manifold_loops as loops
from bench.round import driftfold_rounds, rounds_of, spec_of
from driftfold.assembly import build
from driftfold.checkpoint.fingerprint import take_fingerprint
from driftfold.compute.base import Stack
from driftfold.compute.stacked import Stacked
from driftfold.engines import choose
from driftfold.spec import load_spec
from driftfold.world.world import World

STEPS, ALPHA = 5, 0.05


def pca(clients: int, samples: int, d: int, r: int, precision: str) -> dict[str, Any]:
    data = {"kind": "gaussian_blocks", "clients": clients, "samples": samples, "dimension": d}
    return {"kind": "pca", "rank": r, "data": data, "precision": precision}


def spd(clients: int, precision: str) -> dict[str, Any]:
    data = {"kind": "synthetic_spd", "clients": clients, "samples": 50, "size": 8, "freedom": 16}
    return {"kind": "spd_frechet_mean", "data": data, "precision": precision}


def lorentz(clients: int, precision: str) -> dict[str, Any]:
    data = {"kind": "wrapped_normal", "clients": clients, "samples": 50}
    return {"kind": "hyperbolic_frechet_mean", "data": data, "precision": precision}


def experiment(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "task": task,
        "algorithm": {"kind": "rfedags", "steps": STEPS, "step_size": ALPHA},
        "participation": {"kind": "always"},
        "horizon": {"rounds": 10},
    }


Loop = Callable[[Any, float, int, int], Callable[[], Any]]
Case = tuple[dict[str, Any], dict[str, Loop], int, int]  # task, loops, clients of loops, rounds
PCA: dict[str, Loop] = {"geoopt": loops.pca_geoopt, "pymanopt": loops.pca_pymanopt}
SPD: dict[str, Loop] = {"geoopt": loops.spd_geoopt, "pymanopt": loops.spd_pymanopt}


def cases(quick: bool) -> dict[str, Case]:
    large, few = (4, 1) if quick else (50, 10)
    made: dict[str, Case] = {}
    for bits in ("float64", "float32"):
        made[f"pca (100, 5), N=40, S=100, {bits}"] = pca(40, 100, 100, 5, bits), PCA, 40, 100
        made[f"spd n=8, N=40, m=50, {bits}"] = spd(40, bits), SPD, few, 10
        made[f"lorentz H^2, N=40, m=50, {bits}"] = (
            lorentz(40, bits),
            {"geoopt": loops.lorentz_geoopt},
            40,
            200,
        )
    for bits in ("float32",) if quick else ("float64", "float32"):
        task = pca(large, 1000, 3072, 4, bits)
        row = task, PCA, 1 if quick else 2, 2
        made[f"pca (3072, 4), N={large}, S=1000, {bits}"] = row
    return made


def bare(world: Any) -> Callable[[], Any]:
    """Return the local work of all clients, without a simulator around it."""
    phase = world.phases[0]
    everyone = np.arange(world.problem.fleet.size)
    state = world.algorithm.begin(world.problem, world.problem.initial_point())
    stack = Stack(
        phase,
        phase.steps,
        everyone,
        everyone,
        np.zeros(len(everyone)),
        [phase.broadcast(state, 0)],
        True,
        None,
    )
    engine = Stacked().engine(world.problem)
    return lambda: engine.run(stack)


def one_round(source: dict[str, Any], rounds: int) -> Callable[[], float]:
    """Return a function that gives the CPU seconds of one round more.

    The difference of a long and a short run, so that what happens once, such as the evaluation at
    the start and at the end, is not counted.
    """
    short, long = driftfold_rounds(source, rounds), driftfold_rounds(source, 3 * rounds)
    return lambda: (3 * long() - short()) / 2


def one_round_of(source: dict[str, Any], world: World, rounds: int) -> Callable[[], float]:
    """The same in one world, whose data are then in memory once."""
    specs = {n: spec_of(source, n) for n in (rounds, 3 * rounds)}
    short, long = (
        rounds_of(replace(world, horizon=s.horizon, evaluate_every=s.evaluate_every), s, n)
        for n, s in specs.items()
    )
    return lambda: (3 * long() - short()) / 2


def timed(fn: Callable[[], Any], least: float) -> float:
    count, started = 0, process_time()
    while True:
        fn()
        count += 1
        spent = process_time() - started
        if spent >= least:
            return spent / count


def measure(case: Case, repeats: int) -> dict[str, Any]:
    task, others, few, rounds = case
    source = experiment(task)
    world = build(load_spec(source))
    clients = world.problem.fleet.size
    simulated = one_round(source, rounds)
    kernel = bare(world)
    peers = {name: make(world.problem, ALPHA, STEPS, few) for name, make in others.items()}
    times: dict[str, list[float]] = {name: [] for name in ("round", "kernel", *peers)}
    for turn in range(repeats + 1):
        got = {"round": simulated(), "kernel": timed(kernel, 0.02)}
        got |= {n: timed(f, 0.02) * clients / few for n, f in peers.items()}
        if turn:  # the first warms up
            for name, value in got.items():
                times[name].append(value)
    ms = {name: statistics.median(values) * 1e3 for name, values in times.items()}
    row = choose(world.problem, "full")
    return {
        "engine": "numpy" if row is None else row.kernel,
        "ms": {name: round(value, 4) for name, value in ms.items()},
        "loop_clients": few,
        "round_ratio": {name: round(ms[name] / ms["round"], 1) for name in peers},
        "kernel_ratio": {name: round(ms[name] / ms["kernel"], 1) for name in peers},
    }


SCALED = {
    "pca (20, 3), S=30": lambda n: pca(n, 30, 20, 3, "float64"),
    "spd n=8, m=50": lambda n: spd(n, "float64"),
    "lorentz H^2, m=50": lambda n: lorentz(n, "float64"),
}


def scale(name: str, clients: int) -> dict[str, Any]:
    """Cost of one client's update in a fresh process, and the memory that rounds need."""
    driftfold_rounds(
        experiment(SCALED[name](40)), 1
    )()  # what is loaded on first use is no memory of the run
    idle = _memory()
    source = experiment(SCALED[name](clients))
    world = build(load_spec(source))
    problem: Any = world.problem
    ready = _memory()
    kernel = bare(world)
    kernel()
    if not name.startswith("spd"):  # where it takes minutes
        problem.evaluate(problem.initial_point(), 0.0)
    local = _memory()
    problem.evaluate = lambda x, time: {"loss": 0.0}  # the cost of rounds is without it
    spent = statistics.median(timed(kernel, 0.05) for _ in range(5))
    once = one_round_of(source, world, max(2, 800 // clients))
    simulated = statistics.median(once() for _ in range(1 if clients > 400 else 3))
    whole = _memory()
    stacked = problem.point_bytes * clients / 1e6
    data = problem.data.x.nbytes / 1e6
    form = problem.kernel_data("full")
    if form is not None and form.matrices is not None:
        data += form.matrices().nbytes / 1e6
    limit = data + 3 * stacked
    return {
        "clients": clients,
        "kernel_us_a_client": round(spent / clients * 1e6, 3),
        "round_us_a_client": round(simulated / clients * 1e6, 3),
        "data_mb": round(data, 1),
        "stacked_models_mb": round(stacked, 2),
        "limit_mb": round(limit, 1),
        "idle_mb": round(idle, 1),
        "peak_after_loading_mb": round(ready - idle, 1),
        "peak_mb": round(local - idle, 1),
        "below_limit": bool(local - idle <= limit),
        "peak_with_events_mb": round(whole - idle, 1),
        "below_limit_with_events": bool(whole - idle <= limit),
        "events_bytes_a_client": round(max(0.0, whole - idle - limit) / clients * 1e6),
    }


def first_run() -> dict[str, float]:
    """Seconds that opening the library adds to a fresh process."""
    code = (
        "import time; t = time.perf_counter(); from driftfold.native import library; "
        "u = time.perf_counter(); library(); print(u - t, time.perf_counter() - u)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", "import numpy; " + code], capture_output=True, text=True, check=True
    )
    imported, opened = map(float, answer.stdout.split())
    return {"import_s": round(imported, 4), "open_s": round(opened, 4)}


def _memory() -> float:
    """Peak memory of this process in MB (getrusage would count its parent's, too)."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:", 1)[1].split()[0]) / 1e3
    except (OSError, IndexError):
        return float("nan")


def _fresh(name: str, clients: int) -> Any:
    arguments = [sys.executable, "-m", "bench.manifolds", "--scale", name, str(clients)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", nargs=2, metavar=("NAME", "CLIENTS"))
    args = parser.parse_args()
    if args.scale:
        print(json.dumps(scale(args.scale[0], int(args.scale[1]))))
        return
    started = perf_counter()
    repeats = args.repeats or (3 if args.quick else 9)
    facts = take_fingerprint().facts
    report: dict[str, Any] = {
        "threads": 1,
        **{k: facts[k] for k in ("numpy", "blas", "cpu", "kernels", "python")},
        "first_run": first_run(),
    }
    chosen = {name: case for name, case in cases(args.quick).items() if args.only in name}
    report["ratios"] = {name: measure(case, repeats) for name, case in chosen.items()}
    counts = (40, 4000) if args.quick else (40, 400, 4000, 40000)
    report["scaling"] = {
        name: [_fresh(name, n) for n in counts] for name in SCALED if args.only in name
    }
    report["minutes"] = round((perf_counter() - started) / 60, 1)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
