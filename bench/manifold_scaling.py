"""What a client's update costs, and what memory a run takes, for fleets that grow."""

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from bench.manifold_cases import bare, experiment, lorentz, one_round, pca, spd, timed
from bench.round import driftfold_rounds
from driftfold.assembly import build
from driftfold.spec import load_spec

PATIENCE = 20.0
"""CPU seconds spent on the repetitions of one figure, after its first one."""

SCALED: dict[str, Callable[[int], dict[str, Any]]] = {
    "pca (20, 3), S=30": partial(pca, samples=30, d=20, r=3, precision="float64"),
    "spd n=8, m=50": partial(spd, precision="float64"),
    "lorentz H^2, m=50": partial(lorentz, precision="float64"),
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
    # The cost of rounds is without what is told of the model, and without the optimum it needs.
    problem.evaluate = lambda x, time: {"loss": 0.0}
    problem.remark = lambda: ""
    spent = _patiently(lambda: timed(kernel, 0.05), 5)
    simulated = _patiently(one_round(source, world, max(1, 400 // clients)), 3)
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


def _patiently(figure: Callable[[], float], most: int) -> float:
    """Median of a figure taken up to `most` times, of fewer where these take long."""
    started = process_time()
    taken = [figure()]
    pace = process_time() - started
    taken += [figure() for _ in range(min(most - 1, int(PATIENCE / pace)))]
    return statistics.median(taken)


def _memory() -> float:
    """Peak memory of this process in MB (getrusage would count its parent's, too)."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:", 1)[1].split()[0]) / 1e3
    except (OSError, IndexError):
        return float("nan")
