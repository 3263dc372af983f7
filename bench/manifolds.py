"""Speed on manifolds: driftfold's rounds and kernels beside loops over clients of other libraries.

Prints one JSON object, and before it, as an aside, a table of its ratios. Times are CPU time on
one thread; ratios are how many times as long the loop takes. `round` is a whole round as the
simulator runs it (events, clients, weights, server step, records), `kernel` the local work of all
clients alone. The server's step is part of the round and of the loops.

How fast a process is depends on where its memory happens to lie and on what else the machine does.
So fresh processes of all sides take turns, `turns` times; each tells its medians over `repeats`.
A ratio is taken within a turn, and what is printed is the median over turns and its range.

`scaling` gives the cost of a client's update and the peak memory of a fresh process for growing
fleets, both beyond what a process takes with the library imported and a run of 40 clients done.
`data_mb` is what the local work reads: the samples, and where a kernel takes second moments in
their place (`pca_gram`), these too. `stacked_models_mb` is one point for each client. The local
work and the set-up before it (`peak_mb`) are held against data + 3 stacked models. Whole rounds
(`peak_with_events_mb`) hold a coroutine and a ticket for each client in flight besides, which does
not depend on the models: `events_bytes_a_client` is what exceeds the limit.

    python -m bench.manifolds [--quick | --full] [--turns 5] [--repeats 3] [--only NAME]

Where a client's data are large (3072 x 1000), 10 clients are run: time is linear in them, and
`--full` runs 50. `--quick` takes fewer turns and sizes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # the library's own choice, for all alike
    os.environ.pop(name, None)

from bench.manifold_cases import OURS, Case, cases, times
from bench.manifold_scaling import SCALED, scale
from driftfold.checkpoint.fingerprint import take_fingerprint

Figures = dict[str, float]
LIBRARIES = ("geoopt", "pymanopt")


def compare(chosen: dict[str, Case], args: argparse.Namespace) -> dict[str, Any]:
    """Let processes of all sides take turns; return each case's figures."""
    told: dict[str, list[Figures]] = {name: [] for name in chosen}
    engines: dict[str, str] = {}
    for turn in range(args.turns):
        for side in (OURS, *LIBRARIES):
            print(f"turn {turn + 1} of {args.turns}: {side}", file=sys.stderr)
            for name, got in _child("--side", side, *_choice(args)).items():
                if side == OURS:
                    told[name].append({})
                    engines[name] = got["engine"]
                told[name][-1] |= got["ms"]
    return {name: {"engine": engines[name], **_summary(turns)} for name, turns in told.items()}


def measure(chosen: dict[str, Case], side: str, repeats: int) -> dict[str, Any]:
    """What a process tells that runs one side: each case's figures."""
    has = {n: case for n, case in chosen.items() if side == OURS or side in case.loops}
    return {name: times(case, side, repeats) for name, case in has.items()}


def _summary(turns: Sequence[Figures]) -> dict[str, Any]:
    peers = [name for name in LIBRARIES if name in turns[0]]
    return {
        "ms": {name: _spread([turn[name] for turn in turns]) for name in turns[0]},
        **{
            f"{ours}_ratio": {p: _spread([turn[p] / turn[ours] for turn in turns]) for p in peers}
            for ours in ("round", "kernel")
        },
    }


def _spread(values: Sequence[float]) -> Figures:
    ends = {"median": statistics.median(values), "least": min(values), "most": max(values)}
    return {name: round(value, 3 if value < 100 else 1) for name, value in ends.items()}


def table(ratios: dict[str, Any]) -> str:
    """The ratios as Markdown: median, and least to most over the turns."""
    lines = [
        "| case | round, ms | kernel, ms | geoopt / round | geoopt / kernel | pymanopt / round |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in ratios.items():
        ms, of_round, of_kernel = row["ms"], row["round_ratio"], row["kernel_ratio"]
        cells = [f"{ms[ours]['median']:.3g}" for ours in ("round", "kernel")]
        cells += [_cell(of_round["geoopt"]), _cell(of_kernel["geoopt"])]
        cells.append(_cell(of_round["pymanopt"]) if "pymanopt" in of_round else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(spread: Figures) -> str:
    return "{median:.3g} ({least:.3g} to {most:.3g})".format(**spread)


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


def _child(*arguments: str) -> Any:
    """What a fresh process of this benchmark prints."""
    command = [sys.executable, "-m", "bench.manifolds", *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def _choice(args: argparse.Namespace) -> list[str]:
    """What a child has to know to choose the same cases."""
    size = ["--full"] if args.full else ["--quick"] if args.quick else []
    return [*size, "--only", args.only, "--repeats", str(args.repeats)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--scale", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.turns = args.turns or (2 if args.quick else 5)
    large = 4 if args.quick else 50 if args.full else 10
    chosen = {name: case for name, case in cases(large).items() if args.only in name}
    if args.scale:
        print(json.dumps(scale(args.scale[0], int(args.scale[1]))))
        return
    if args.side:
        print(json.dumps(measure(chosen, args.side, args.repeats)))
        return
    started = perf_counter()
    facts = take_fingerprint().facts
    report: dict[str, Any] = {
        "threads": 1,
        **{k: facts[k] for k in ("numpy", "blas", "cpu", "kernels", "python")},
        "turns": args.turns,
        "repeats": args.repeats,
        "first_run": first_run(),
        "ratios": compare(chosen, args),
    }
    print(table(report["ratios"]), file=sys.stderr)
    counts = (40, 4000) if args.quick else (40, 400, 4000, 40000)
    report["scaling"] = {
        name: [_child("--scale", name, str(n)) for n in counts]
        for name in SCALED
        if args.only in name
    }
    report["minutes"] = round((perf_counter() - started) / 60, 1)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
