"""The main experiment: a principal subspace of real images on a fleet that comes and goes.

    python examples/demo.py [--seeds 0 1 2] [--rounds 300] [--folder runs/demo]

It starts the service with a job store of its own and two workers, submits every arm and seed as a
job, and watches them. `driftfold run fashion-subspace` runs one of them without a service.

Four arms, which differ only in what the server does with the answers: two ways to aggregate
(RFedAGS averages gradient streams, RFedAvg averages end points in the tangent space) times two
ways to weight (alike, or by how often each client has answered so far).
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:  # this takes a second, in which somebody may think better of it
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from driftfold.assembly import build
    from driftfold.errors import DriftfoldError
    from driftfold.participation.cohort import cohort_weights
    from driftfold.spec import load_spec
    from driftfold.telemetry.base import Record
    from driftfold_api.client import Client
    from driftfold_api.plots import plot_runs
except KeyboardInterrupt:
    print("\nInterrupted: nothing has been started.")
    sys.exit(130)

ARMS = {
    "RFedAGS by frequency": "fashion-subspace",
    "RFedAvg by frequency": "fashion-subspace-rfedavg-corrected",
    "RFedAGS alike (AGS-RS)": "fashion-subspace-rs",
    "RFedAvg alike": "fashion-subspace-rfedavg",
}
AGS, AVG, AGS_RS, AVG_RS = ARMS


Job = tuple[str, int]  # an arm and a seed


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=Path("runs/demo"))
    args = parser.parse_args()
    console = Console(highlight=False)
    stalls = [introduce(console, seed, seed == args.seeds[0]) for seed in args.seeds]
    with service(args.folder) as client:
        console.print(f"The service is at {client.url}: open it in a browser to watch the jobs.\n")
        results, records = simulate(console, client, args.seeds, args.rounds)
    console.print(table(results))
    conclude(console, results, stalls)
    picture = plot_runs(records, args.folder / "gap.png")
    console.print(f"\nPlot: {picture}")


@contextmanager
def service(folder: Path) -> Iterator[Client]:
    """Start `driftfold serve` at a free port, and stop it, with all it started, at the end."""
    command = [sys.executable, "-m", "driftfold_api.command", "serve", "--json"]
    command += ["--port", "0", "--workers", "2", "--runs", str(folder)]
    command += ["--parent", str(os.getpid())]  # it ends with us, however we end
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "service.log"
    with log.open("w") as errors:
        # In a session of its own: Ctrl-C is for us, and we tell it.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"the service did not start: {log.read_text().strip()}")
        with Client(json.loads(line)["url"]) as client:
            yield client
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        process.stdout.close()


def introduce(console: Console, seed: int, aloud: bool) -> float:
    """Say what is simulated; return the gap at which equal weights must stall, by theory."""
    world = build(load_spec("fashion-subspace", overrides=[f"seed={seed}"]))
    problem: Any = world.problem
    attendance: Any = world.attendance
    p = attendance.probability(np.arange(problem.fleet.size))
    if aloud:
        held = (problem.fleet.label_shares > 0).sum(axis=1)
        console.print(
            f"{problem.fleet.size} clients hold {problem.fleet.samples.sum()} real images "
            f"(Fashion-MNIST), each {held.min()} to {held.max()} of the 10 kinds of clothes. "
            f"Together they look for the {problem.rank} directions in R^{problem.dimension} that "
            "keep most of everybody's variance; the gap is how much less of it a model keeps than "
            "the best one.\n\n"
            f"In each round client i answers with probability p_i, from {p.min():.2f} to "
            f"{p.max():.2f}: those who hold favoured kinds answer often. The server does not know "
            "the p_i. It weights the answers all alike, or by how often each client has answered "
            "so far. Devices and links differ in speed; their time is simulated.\n"
        )
    # Equal weights aim at sum_i p~_i f_i, with p~_i the expected share of client i in the mean.
    tilted = problem.reweighted(cohort_weights(p))
    _, vectors = np.linalg.eigh(tilted.second_moment)
    goal = vectors[:, -problem.rank :].T
    return float(problem.evaluate(goal, 0.0)["gap"])


def simulate(
    console: Console, client: Client, seeds: Sequence[int], rounds: int
) -> tuple[dict[str, list[Any]], dict[str, list[list[Record]]]]:
    """Run every arm on every seed: same data, same first point, same answers, same delays."""
    jobs: dict[Job, str] = {}
    try:
        for seed in seeds:
            for arm, preset in ARMS.items():
                spec = load_spec(preset, overrides=[f"seed={seed}", f"horizon.rounds={rounds}"])
                jobs[arm, seed] = client.submit(spec, name=f"{arm}, seed {seed}").id
        logs = watch(console, client, jobs, rounds)
    except BaseException:  # or they would go on when the service is started again
        for job in jobs.values():
            with suppress(DriftfoldError):  # it is over already
                client.cancel(job)
        raise
    results = {arm: [client.result(jobs[arm, seed]) for seed in seeds] for arm in ARMS}
    return results, {arm: [logs[arm, seed] for seed in seeds] for arm in ARMS}


def watch(
    console: Console, client: Client, jobs: Mapping[Job, str], rounds: int
) -> dict[Job, list[Record]]:
    """Follow all jobs to their end; one bar an arm shows its latest record."""
    logs: dict[Job, list[Record]] = {job: [] for job in jobs}
    open_jobs = dict(jobs)
    columns = (
        TextColumn("{task.description:22}"),
        BarColumn(bar_width=14),
        TextColumn("{task.fields[state]:32}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        total = rounds * len(jobs) // len(ARMS)
        bars = {arm: progress.add_task(arm, total=total, state="waits") for arm in ARMS}
        while open_jobs:
            time.sleep(0.2)
            for (arm, seed), job in list(open_jobs.items()):
                log = client.records(job, after=len(logs[arm, seed]))
                logs[arm, seed] += log.records
                show(progress, bars[arm], log.records)
                if log.complete:
                    del open_jobs[arm, seed]
                    if log.state != "succeeded":
                        raise SystemExit(
                            f"{arm}, seed {seed} {log.state}: {client.get(job).reason}"
                        )
    return logs


def show(progress: Progress, bar: TaskID, records: Sequence[Record]) -> None:
    """Move a bar by the rounds among `records`, and say how the latest evaluation was."""
    done = sum(record.kind == "round" for record in records)
    measured = [record for record in records if record.kind == "evaluation"]
    if measured:
        gap, minutes = measured[-1].values["gap"], measured[-1].time / 60
        progress.update(bar, state=f"gap {gap:7.3f}  {minutes:4.1f} virtual min")
    progress.advance(bar, done)


def table(results: dict[str, list[Any]]) -> Table:
    """Return the end of every arm: median over seeds, and smallest to largest."""
    out = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)  # fits into 80 columns
    out.add_column("arm", no_wrap=True)
    for title in ("end gap", "min to max", "rounds", "virtual", "wall"):
        out.add_column(title, justify="right", no_wrap=True)
    for name, own in results.items():
        gaps = [r["metrics"]["gap"] for r in own]
        out.add_row(
            name,
            f"{statistics.median(gaps):.3f}",
            f"{min(gaps):.3f} to {max(gaps):.3f}",
            f"{own[0]['rounds']}",
            f"{statistics.median(r['time'] for r in own) / 60:.1f} min",
            f"{statistics.median(r['timing']['wall'] for r in own):.1f} s",
        )
    return out


def conclude(console: Console, results: dict[str, list[Any]], stalls: list[float]) -> None:
    """Say what these runs show, and no more."""
    gaps = {name: [r["metrics"]["gap"] for r in own] for name, own in results.items()}
    median = {name: statistics.median(own) for name, own in gaps.items()}
    better = sum(a < b for a, b in zip(gaps[AGS], gaps[AGS_RS], strict=True))
    console.print(
        f"\nRFedAGS weighted by frequency ended with a smaller gap than weighted alike on {better} "
        f"of {len(stalls)} seeds; the medians are {median[AGS]:.3f} and {median[AGS_RS]:.3f}."
    )
    if better == len(stalls):
        console.print(
            "Why: weighted alike, a client counts as often as it happens to answer, and the model "
            "heads for the optimum of another mean. The gap of that optimum, computed from the "
            f"true p_i, is {statistics.median(stalls):.3f} (median); the two arms weighted alike "
            f"ended at {median[AGS_RS]:.3f} and {median[AVG_RS]:.3f}."
        )
    else:
        console.print("That is no clear difference: run more rounds, or more seeds.")
    console.print(
        "With the same weights, the two ways to aggregate ended at "
        f"{median[AGS]:.3f} (RFedAGS) and {median[AVG]:.3f} (RFedAvg) by frequency, and at "
        f"{median[AGS_RS]:.3f} and {median[AVG_RS]:.3f} alike."
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\nInterrupted: all jobs are canceled, the service and its workers have stopped.")
        sys.exit(130)
