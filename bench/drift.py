"""One step of adaptation for many clients' nets: stacked, one client at a time, and bare programs.

The step lowers the entropy of each client's predictions on its own batch, at one rate, for all
parameters. Arms take turns within one run, time is CPU time on one thread, and medians over the
turns are compared. `modules` is what a program without stacks does: a torch module and an
optimiser for each client, one after the other. `bare_numpy` and `bare_torch` are the shortest
batched programs for the same step, written for this net alone.

`online_step` is a step of everybody's stream under Fed-ADE: predictions, signals, steps on
everything, the mean, steps on heads. `run` has all that a run has: events, visits, draws of
batches, records; `run_one_at_a_time` is the same run by the engine `loop`; `bare` is a batched
program of the same step on batches that lie there. Prints one JSON object.

    python -m bench.drift [--quick]
"""

import argparse
import gc
import json
import os
import statistics
import sys
import tracemalloc
from collections.abc import Mapping
from time import process_time
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from bench.bare_nets import bare_numpy, bare_torch, modules
from bench.net_steps import (
    BATCH,
    CLASSES,
    RATE,
    SIZES,
    Step,
    descend,
    on_reference,
    one_at_a_time,
    stacked,
    starts,
)
from bench.online_steps import bare_step, memory_of_bodies, memory_of_heads, spec_of, world_step
from bench.residual_nets import grouped_step, mapped_step
from driftfold.assembly import build
from driftfold.nets import MiniResNet6, Mlp
from driftfold.torch_lazily import load_torch

STEPS = 10  # of a stream
CLIENTS, QUICK_CLIENTS = (20, 100, 1000), (20, 100)
HEADS, TILE = 1000, 100


def medians(arms: Mapping[str, Step], turns: int) -> dict[str, float]:
    """Median CPU seconds of each arm; they take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for turn in range(turns + 1):
        for name, step in arms.items():
            gc.collect()
            began = process_time()
            step()
            if turn:  # the first turn fills caches
                seconds[name].append(process_time() - began)
    return {name: statistics.median(spent) for name, spent in seconds.items()}


def mlp_step(clients: int, dtype: Any, turns: int) -> dict[str, Any]:
    """The arms of one step of an MLP 64-32-16-10 on 50 inputs a client."""
    model = Mlp(SIZES[1:-1]).model(SIZES[:1], CLASSES, dtype)
    theta, x = starts(model, clients, BATCH)
    seconds = medians(
        {
            "stacked": stacked(model, clients),
            "one_at_a_time": one_at_a_time(model, clients),
            "modules": modules(SIZES, x, RATE),
            "bare_numpy": bare_numpy(SIZES, theta, x, RATE),
            "bare_torch": bare_torch(SIZES, theta, x, RATE),
            "stacked_on_reference": on_reference(model, clients),
        },
        turns,
    )
    ours = seconds["stacked"]
    return {
        "clients": clients,
        "dtype": np.dtype(dtype).name,
        "ms": {name: round(1e3 * spent, 3) for name, spent in seconds.items()},
        "us_per_client": round(1e6 * ours / clients, 1),
        "one_at_a_time_to_stacked": round(seconds["one_at_a_time"] / ours, 2),
        "modules_to_stacked": round(seconds["modules"] / ours, 2),
        "stacked_to_bare": round(ours / min(seconds["bare_numpy"], seconds["bare_torch"]), 2),
    }


def residual_step(clients: int, pixels: int, turns: int) -> dict[str, Any]:
    """Milliseconds a client of one step of MiniResNet6 on 50 pictures, float32."""
    model = MiniResNet6().model((pixels, pixels, 3), CLASSES, np.float32)
    theta, x = starts(model, clients, BATCH)
    head = model.layout.where(model.head)
    features = model.forward(theta, x).features
    heads = np.ascontiguousarray(theta[:, head])
    seconds = medians(
        {
            "one_after_another": lambda: descend(model, theta, x),
            "vmap": mapped_step(model, theta, x),
            "grouped": grouped_step(model, theta, x),
            "forward": lambda: model.forward(theta, x),
            "head_on_given_features": lambda: descend(model.head_model, heads, features),
        },
        turns,
    )
    return {
        "clients": clients,
        "pictures": BATCH,
        "pixels": pixels,
        "ms_per_client": {name: round(1e3 * each / clients, 3) for name, each in seconds.items()},
    }


def online_step(clients: int, risk: str, turns: int) -> dict[str, Any]:
    """One step of all clients' streams under Fed-ADE, as runs and as the bare program."""
    seconds: dict[str, list[float]] = {}
    own = f"algorithm.risk={{kind='{risk}'}}"
    specs = {"run": spec_of(clients, STEPS, own)}
    specs["run_one_at_a_time"] = spec_of(clients, STEPS, own, "compute={kind='loop'}")
    worlds = {name: build(spec) for name, spec in specs.items()}
    arms = {name: world_step(specs[name], worlds[name], STEPS) for name in specs}
    if risk == "entropy":  # the bare program's
        arms["bare"] = bare_step(worlds["run"], STEPS)
    for turn in range(turns + 1):
        for name, step in arms.items():
            gc.collect()
            spent = step()
            if turn:
                seconds.setdefault(name, []).append(spent)
    ms = {name: 1e3 * statistics.median(spent) for name, spent in seconds.items()}
    told: dict[str, Any] = {"clients": clients, "risk": risk}
    told["ms"] = {name: round(each, 1) for name, each in ms.items()}
    told["one_at_a_time_to_run"] = round(ms["run_one_at_a_time"] / ms["run"], 1)
    if "bare" in ms:
        told["run_to_bare"] = round(ms["run"] / ms["bare"], 2)
    return told


def head_memory(clients: int) -> dict[str, Any]:
    """Memory beyond one model that steps on everybody's own head take, in tiles of clients."""
    model = MiniResNet6().model((8, 8, 3), CLASSES, np.float32)
    theta, x = starts(model, 1, BATCH)
    features = model.forward(theta[0], x[0]).features
    where = model.layout.where(model.head)
    tracemalloc.start()
    heads = np.repeat(theta[:, where], clients, axis=0)
    for start in range(0, clients, TILE):
        descend(model.head_model, heads[start : start + TILE], features)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "clients": clients,
        "numbers_each": int(where.sum()),
        "heads_mb": round(heads.nbytes / 1e6, 1),
        "peak_mb": round(peak / 1e6, 1),
        "one_model_mb": round(theta.nbytes / 1e6, 2),
        "full_copies_mb": round(clients * theta.nbytes / 1e6, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few turns, small pictures")
    options = parser.parse_args()
    torch = load_torch()
    steps = [
        mlp_step(clients, dtype, 5 if options.quick else max(5, 2000 // clients))
        for clients in (QUICK_CLIENTS if options.quick else CLIENTS)
        for dtype in (np.float64, np.float32)
    ]
    turns, online = (1, 20) if options.quick else (7, 100)
    online_steps = [online_step(online, risk, turns) for risk in ("entropy", "bbse_source")]
    residual = residual_step(2, 8, 2) if options.quick else residual_step(4, 32, 5)
    report = {
        "threads": 1,
        "numpy": np.__version__,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "mlp_64_32_16_10": steps,
        "mini_resnet6": residual,
        "heads": head_memory(HEADS),
        "online_step": online_steps,
        "run_on_heads": memory_of_heads(20 if options.quick else HEADS),
        "run_on_bodies": memory_of_bodies(20 if options.quick else HEADS),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
