"""The problems whose rounds are timed, and how one side of the comparison times them.

A side is driftfold or another library. Each process runs one side alone, so that neither's memory,
threads or start weigh on the other; `bench.manifolds` lets processes of all sides take turns.
"""

import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from bench import manifold_loops as loops
from bench.round import rounds_of, spec_of
from driftfold.assembly import build
from driftfold.compute.base import Stack
from driftfold.compute.stacked import Stacked
from driftfold.engines import choose
from driftfold.spec import load_spec
from driftfold.world.world import World

STEPS, ALPHA = 5, 0.05
OURS = "driftfold"
LEAST = 0.05  # CPU seconds of one repetition of a loop or kernel

Loop = Callable[[Any, float, int, int], Callable[[], Any]]
PCA: dict[str, Loop] = {"geoopt": loops.pca_geoopt, "pymanopt": loops.pca_pymanopt}
SPD: dict[str, Loop] = {"geoopt": loops.spd_geoopt, "pymanopt": loops.spd_pymanopt}
LORENTZ: dict[str, Loop] = {"geoopt": loops.lorentz_geoopt}


class Case(NamedTuple):
    """A task by its number of clients, the loops of the other libraries, and what is run.

    A loop runs over `few` of the `clients`, since its time is the same for each, and is scaled.
    """

    task: Callable[[int], dict[str, Any]]
    clients: int
    loops: dict[str, Loop]
    few: int
    rounds: int


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


def cases(large: int) -> dict[str, Case]:
    """All cases; `large` is the number of clients where a client's data are large."""
    made: dict[str, Case] = {}
    for bits in ("float64", "float32"):
        made |= {
            f"pca (100, 5), N=40, S=100, {bits}": Case(
                partial(pca, samples=100, d=100, r=5, precision=bits), 40, PCA, 40, 100
            ),
            f"pca (3072, 4), N={large}, S=1000, {bits}": Case(
                partial(pca, samples=1000, d=3072, r=4, precision=bits), large, PCA, 2, 2
            ),
            f"spd n=8, N=40, m=50, {bits}": Case(partial(spd, precision=bits), 40, SPD, 10, 5),
            f"lorentz H^2, N=40, m=50, {bits}": Case(
                partial(lorentz, precision=bits), 40, LORENTZ, 40, 200
            ),
        }
    return made


def times(case: Case, side: str, repeats: int) -> dict[str, Any]:
    """What one process measures of one side: CPU milliseconds, medians over `repeats`."""
    if side == OURS:
        source = experiment(case.task(case.clients))
        world = build(load_spec(source))
        row = choose(world.problem, "full")
        ms = _medians(
            {"round": one_round(source, world, case.rounds), "kernel": _kernel(world)}, repeats
        )
        return {"engine": "numpy" if row is None else row.kernel, "ms": ms}
    problem = build(load_spec(experiment(case.task(case.few)))).problem
    loop = case.loops[side](problem, ALPHA, STEPS, case.few)
    scale = case.clients / case.few
    return {"ms": _medians({side: lambda: timed(loop, LEAST) * scale}, repeats)}


def bare(world: World) -> Callable[[], Any]:
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


def one_round(source: dict[str, Any], world: World, rounds: int) -> Callable[[], float]:
    """Return a function that gives the CPU seconds of one round more, in the world of `source`.

    The difference of a long and a short run, so that what happens once, such as the evaluation at
    the start and at the end, is not counted.
    """
    specs = {n: spec_of(source, n) for n in (rounds, 3 * rounds)}
    short, long = (
        rounds_of(replace(world, horizon=s.horizon, evaluate_every=s.evaluate_every), s, n)
        for n, s in specs.items()
    )
    return lambda: (3 * long() - short()) / 2


def timed(fn: Callable[[], Any], least: float) -> float:
    """CPU seconds of one call, over as many as take `least` seconds."""
    count, started = 0, process_time()
    while True:
        fn()
        count += 1
        spent = process_time() - started
        if spent >= least:
            return spent / count


def _kernel(world: World) -> Callable[[], float]:
    work = bare(world)
    return lambda: timed(work, LEAST)


def _medians(clocks: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Median milliseconds of each clock, which take turns; the first turn warms up."""
    turns = [{name: clock() for name, clock in clocks.items()} for _ in range(repeats + 1)][1:]
    return {name: statistics.median(turn[name] for turn in turns) * 1e3 for name in clocks}
