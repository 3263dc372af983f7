"""Cost of one round: driftfold against bare stacked kernels and per-client loops.

Prints one JSON object. Every figure is CPU time on one thread, the median over interleaved
repeats; `ratio` is driftfold's whole round (events, clients, weights, records, server step)
divided by the bare kernel's, which does the same arithmetic and nothing else.

    python bench/round.py [--repeats 15] [--rounds 60]
"""

import argparse
import json
import os
import statistics
import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from driftfold import kernel
from driftfold.assembly import build
from driftfold.compute.tickets import TicketBook
from driftfold.spec import JobSpec, load_spec
from driftfold.telemetry.recorder import Recorder
from driftfold.world.aggregate import Aggregator
from driftfold.world.keeper import Keeper
from driftfold.world.server import Server
from driftfold.world.story import live
from driftfold.world.tally import Tally
from driftfold.world.world import World

Round = Callable[[], Any]


def driftfold_rounds(source: Any, rounds: int) -> Callable[[], float]:
    """Return a function that gives the CPU seconds of one round of an experiment."""
    spec = spec_of(source, rounds)
    return rounds_of(build(spec), spec, rounds)


def spec_of(source: Any, rounds: int) -> JobSpec:
    """An experiment of so many rounds that evaluates at its ends alone."""
    overrides = [f"horizon.rounds={rounds}", f"evaluate_every={10 * rounds}"]
    return load_spec(source, overrides=overrides)


def rounds_of(world: World, spec: JobSpec, rounds: int) -> Callable[[], float]:
    """Return a function that gives the CPU seconds of one round of a world of `spec`."""

    def once() -> float:
        tickets = TicketBook(spec.compute.engine(world.problem), world.phases, None)
        tally, recorder = Tally(), Recorder()
        aggregator = Aggregator(world, tickets, recorder, tally)
        keeper = Keeper(recorder, None, "bench", 0, {}, {})

        async def main() -> float:
            started = process_time()
            await live(Server(world, tickets, aggregator, tally), spec.cadence, keeper)
            return process_time() - started

        return kernel.run(main()) / rounds

    return once


def pca_numpy(world: World, alpha: float, steps: int, batch: int | None) -> Round:
    """Return the round of the best pure-Python stacked kernel: rows layout, buffers reused."""
    problem: Any = world.problem
    data = problem.data.x
    n, samples, d = data.shape
    x0 = problem.initial_point()
    r = x0.shape[0]
    gram = data.swapaxes(1, 2) @ data / samples
    X, G, T, Z = (np.empty((n, r, d)) for _ in range(4))
    M, S = np.empty((n, r, r)), np.empty((n, r, batch or 1))
    rng = np.random.default_rng(0)
    rows = np.arange(n)[:, None]
    state = {"x": x0}

    def once() -> None:
        x = state["x"]
        X[:] = x
        Z[:] = 0
        order = None
        if batch is not None:
            order = rng.random((steps, n, samples)).argpartition(batch, axis=-1)
        for k in range(steps):
            if order is None:
                np.matmul(X, gram, out=G)
                G.__imul__(-2)
            else:
                rows_drawn = data[rows, order[k, :, :batch]]
                np.matmul(X, rows_drawn.swapaxes(1, 2), out=S)
                np.matmul(S, rows_drawn, out=G)
                G.__imul__(-2 / (batch or 1))
            np.matmul(X, G.swapaxes(1, 2), out=M)
            sym = 0.5 * (M + M.swapaxes(1, 2))
            np.matmul(sym, X, out=T)
            G.__isub__(T)
            Z.__iadd__(G)
            if k < steps - 1:
                G.__imul__(alpha)
                X.__isub__(G)
                L = np.linalg.cholesky(X @ X.swapaxes(1, 2))
                np.matmul(np.linalg.inv(L), X, out=T)
                X[:] = T
        acc = Z.sum(0)
        m = acc @ x.T
        y = x - alpha / n * (acc - 0.5 * (m + m.T) @ x)
        state["x"] = np.linalg.inv(np.linalg.cholesky(y @ y.T)) @ y

    return once


def pca_geoopt(world: World, alpha: float, steps: int, batch: int | None) -> Round:
    """Return the same round as a loop over clients with geoopt, closed-form gradients."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import geoopt

    torch.set_num_threads(1)
    problem: Any = world.problem
    data = torch.from_numpy(problem.data.x)
    n, samples, _ = data.shape
    manifold = geoopt.EuclideanStiefel()
    state = {"x": torch.from_numpy(problem.initial_point()).T.contiguous()}
    generator = torch.Generator().manual_seed(0)

    def once() -> None:
        x0 = state["x"]
        acc = torch.zeros_like(x0)
        for i in range(n):
            x = x0
            for _ in range(steps):
                z = data[i]
                if batch is not None:
                    z = z[torch.randperm(samples, generator=generator)[:batch]]
                g = manifold.egrad2rgrad(x, -2.0 / len(z) * (z.T @ (z @ x)))
                acc += alpha * manifold.transp(x, x0, g)
                x = manifold.retr(x, -alpha * g)
        state["x"] = manifold.retr(x0, -acc / n)

    return once


def softmax_numpy(world: World, rate: float, steps: int) -> Round:
    """Return FedAvg's round with gradients by hand, batched over clients."""
    problem: Any = world.problem
    X = problem.data.x.astype(np.float32)
    y = problem.data.y
    clients, samples, _ = X.shape
    onehot = np.zeros((clients, samples, problem.manifold.shape[1]), np.float32)
    np.put_along_axis(onehot, y[..., None], 1, 2)
    Xt = X.transpose(0, 2, 1)
    state = {"w": problem.initial_point().astype(np.float32)}

    def once() -> None:
        W = np.broadcast_to(state["w"], (clients, *state["w"].shape)).copy()
        for _ in range(steps):
            z = X @ W
            z -= z.max(-1, keepdims=True)
            np.exp(z, out=z)
            z /= z.sum(-1, keepdims=True)
            z -= onehot
            W -= (rate / samples) * (Xt @ z)
        state["w"] = W.mean(0)

    return once


def compare(ours: Callable[[], float], others: dict[str, Round], repeats: int, rounds: int) -> Any:
    """Time all in turn; return medians in milliseconds and driftfold's ratio to each."""
    times: dict[str, list[float]] = {"driftfold": [], **{name: [] for name in others}}
    ours()
    for other in others.values():
        other()
    for _ in range(repeats):
        times["driftfold"].append(ours())
        for name, other in others.items():
            count = max(1, rounds // (20 if "loop" in name else 1))
            started = process_time()
            for _ in range(count):
                other()
            times[name].append((process_time() - started) / count)
    ms = {name: statistics.median(t) * 1e3 for name, t in times.items()}
    ratio = {name: ms["driftfold"] / ms[name] for name in others}
    return {
        "ms": {k: round(v, 3) for k, v in ms.items()},
        "ratio": {k: round(v, 3) for k, v in ratio.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=60)
    args = parser.parse_args()
    everybody = {"extends": "pca-synthetic", "participation": {"kind": "always"}}
    python = sys.version.split()[0]
    report: dict[str, Any] = {"threads": 1, "numpy": np.__version__, "python": python}
    for name, batch in (("full batch", None), ("batch of 50", 50)):
        source = {**everybody, "algorithm": {"batch": batch or "full"}}
        world = build(load_spec(source))
        report[f"pca round, 40 clients, K=5, {name}"] = compare(
            driftfold_rounds(source, args.rounds),
            {
                "stacked numpy kernel": pca_numpy(world, 6e-3, 5, batch),
                "geoopt loop": pca_geoopt(world, 6e-3, 5, batch),
            },
            args.repeats,
            args.rounds,
        )
    source = {
        "task": {"kind": "softmax_regression", "precision": "float32"},
        "algorithm": {"kind": "fedavg", "steps": 5, "batch": "full", "step_size": 0.1},
        "horizon": {"rounds": 10},
    }
    world = build(load_spec(source))
    report["fedavg round, 100 clients, 500 parameters, K=5"] = compare(
        driftfold_rounds(source, args.rounds),
        {"stacked numpy kernel": softmax_numpy(world, 0.1, 5)},
        args.repeats,
        args.rounds,
    )
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
