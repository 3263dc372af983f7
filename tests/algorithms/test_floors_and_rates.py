"""T7 and T8: what a fixed step size leaves of the gap, and how fast decreasing ones bring it down.

Quadratics f_i(x) = |x - c_i|^2 / 2, full batches, clients that respond with known probabilities:
the local steps contract by rho = 1 - (1 - alpha)^K, the round is x - rho sum_S (x - c_i) / (p_i N),
and with V = sum_i (1 - p_i) / (p_i N^2) |c_i - c|^2 and v = sum_i (1 - p_i) / (p_i N^2), equal p,

    E|x' - c|^2 = ((1 - rho)^2 + rho^2 v) E|x - c|^2 + rho^2 V.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import Decay, RFedAGS
from driftfold.arrays import Floats
from driftfold.estimators import Oracle
from driftfold.manifolds import Euclidean, Manifold
from driftfold.participation import Bernoulli
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import JobSpec, from_mapping
from driftfold.telemetry.memory import Memory
from driftfold.world.policy import Horizon
from tests.algorithms.scattered import MANIFOLDS, Scattered

N, DIMENSION, P = 6, 60, 0.5


def gaps(algorithm: Any, task: Scattered, rounds: int, seed: int = 3) -> Floats:
    """Gap after each round, from the first iterate on."""
    memory = Memory()
    spec = JobSpec(
        task=task,
        algorithm=algorithm,
        participation=Bernoulli(p=P),
        estimator=Oracle(),
        horizon=Horizon(rounds=rounds),
        evaluate_every=1,
        seed=seed,
    )
    run(spec, sinks=[memory])
    return np.array([r.values["gap"] for r in memory.records if "gap" in r.values])


def flat(apart: float, away: float = 0.05) -> Scattered:
    return Scattered(Euclidean(DIMENSION), N, samples=1, apart=apart, spread=0.0, away=away)


def floor(alpha: float, steps: int, apart: float) -> float:
    """Stationary mean of the gap |x - c|^2 / 2."""
    problem: Any = flat(apart).build(Seed(3))
    centres = problem.targets[:, 0]
    rho, share = 1 - (1 - alpha) ** steps, (1 - P) / (P * N)
    spread = share * np.mean(np.sum((centres - centres.mean(axis=0)) ** 2, axis=1))
    return float(rho**2 * spread / (1 - (1 - rho) ** 2 - rho**2 * share) / 2)


CASES = {"plain": (0.05, 2, 0.5), "halved": (0.025, 2, 0.5), "longer": (0.05, 8, 0.5)}
SCATTER = {**CASES, "unlike": (0.05, 2, 1.0)}


def test_the_floor_is_proportional_to_step_and_heterogeneity() -> None:
    """T7 of the formula: it halves with alpha, up to alpha K, and is quadratic in the distances."""
    found = {name: floor(*case) for name, case in SCATTER.items()}
    assert found["halved"] == pytest.approx(found["plain"] / 2, rel=0.05)
    assert found["unlike"] == pytest.approx(4 * found["plain"], rel=1e-6)
    assert found["longer"] > 3 * found["plain"]


def test_a_fixed_step_size_stops_at_the_floor() -> None:
    """T7 in a run: the mean over rounds is the formula's.

    Neighbouring rounds are alike over 1 / rho = 3 of them, so that 180 are about 30 independent
    ones, of N - 1 = 5 directions each: a standard error of 12 %.
    """
    alpha, steps, apart = SCATTER["longer"]
    path = gaps(RFedAGS(steps=steps, step_size=alpha), flat(apart), 200)
    assert path[20:].mean() == pytest.approx(floor(alpha, steps, apart), rel=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("case", SCATTER)
def test_a_fixed_step_size_stops_at_the_floor_exactly(case: str) -> None:
    """T7 in long runs: 3,000 rounds bring the standard error of the mean to 2 to 6 %."""
    alpha, steps, apart = SCATTER[case]
    path = gaps(RFedAGS(steps=steps, step_size=alpha), flat(apart), 3000)
    assert path[200:].mean() == pytest.approx(floor(alpha, steps, apart), rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_floors_grow_on_every_manifold(manifold: Manifold) -> None:
    """T7: half with half alpha, four times with 4 K and with twice the distances, up to curvature.

    1,100 rounds are about 55 independent ones of the shortest steps, of two directions or more: a
    standard error of 15 % or less, and less of the ratios, since who responds is the same for all.
    """

    def left(alpha: float, steps: int, apart: float) -> float:
        task = Scattered(manifold, N, samples=4, apart=apart, spread=0.1)
        return float(gaps(RFedAGS(steps=steps, step_size=alpha), task, 1200)[100:].mean())

    plain = left(0.05, 2, 0.25)
    assert 0.35 < left(0.025, 2, 0.25) / plain < 0.65
    assert 2.5 < left(0.05, 8, 0.25) / plain < 7
    assert 2.5 < left(0.05, 2, 0.5) / plain < 6


def slope(path: Floats, first: int) -> float:
    """Log-log slope of the gap against the round, from round `first` on.

    Over means of eight parts of equal length on the logarithmic axis.
    """
    edges = np.unique(np.geomspace(first, len(path), 9).astype(int))
    times = np.sqrt(edges[:-1] * edges[1:])
    means = [path[a:b].mean() for a, b in pairwise(edges)]
    return float(np.polyfit(np.log(times), np.log(means), 1)[0])


DECAY = Decay(1.0, shift=5.0)  # times K = 2: twice what a slope of -1 needs


def test_decreasing_steps_bring_the_gap_down_like_one_over_t() -> None:
    """T8 on a quadratic, far from its optimum at first: slope <= -0.9."""
    path = gaps(RFedAGS(steps=2, step_size=DECAY), flat(0.5, away=2.0), 300)
    assert slope(path, 20) <= -0.9


@pytest.mark.slow
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_means_come_near_like_one_over_t(manifold: Manifold) -> None:
    """T8: half squared distances, quadratics in tangent coordinates up to curvature; 4 seeds."""
    task = Scattered(manifold, N, samples=4, apart=0.3, spread=0.1)
    rule = RFedAGS(steps=2, batch=2, step_size=DECAY)
    paths = [gaps(rule, task, 600, seed) for seed in range(4)]
    assert slope(np.mean(paths, axis=0), 20) <= -0.9


@pytest.mark.slow
@pytest.mark.parametrize("rank", [1, 2])
def test_principal_subspaces_come_near_like_one_over_t(rank: int) -> None:
    """T8 on the sphere and on Stiefel: unlike clients, mini-batches, an eigengap; 3 seeds."""
    rule = {"kind": "decay", "alpha": 3.0, "shift": 10.0}
    paths = [pca_gaps(4, rule, 1200, seed, SHARDS, rank, batch=15) for seed in range(3)]
    assert slope(np.mean(paths, axis=0), 50) <= -0.9


SHARDS = {"kind": "shards", "per_client": 1}  # one class a client


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "first", "last"), [(1, 200, 700), (2, 2000, 4500)])
def test_the_floor_of_the_principal_subspace_grows(rank: int, first: int, last: int) -> None:
    """T7 on the sphere and on Stiefel: with K and heterogeneity, and by half where alpha is halved.

    Means over 500 rounds of one path have a standard error of about 15 %; what is drawn is the same
    for all. With rank 2 the eigengap is a twelfth, and all takes longer.
    """

    def left(steps: int, alpha: float, partition: Any = SHARDS) -> float:
        return float(pca_gaps(steps, alpha, last, 0, partition, rank)[first:].mean())

    floors = [left(steps, 0.01) for steps in (2, 6, 20)]
    assert floors[2] > 1.5 * floors[1] > 1.5**2 * floors[0]
    assert floors[1] > 3 * left(6, 0.01, "iid")
    assert 0.35 < left(6, 0.005) / floors[1] < 0.65


def pca_gaps(
    steps: int,
    step_size: Any,
    rounds: int,
    seed: int,
    partition: Any,
    rank: int = 1,
    batch: Any = "full",
) -> Floats:
    """Gaps of RFedAGS on the principal subspace of four classes."""
    memory = Memory()
    data = {"kind": "gaussian_classes", "classes": 4, "features": 6, "samples": 800}
    task = {"kind": "pca", "rank": rank, "data": data, "partition": partition, "clients": 8}
    sizes = {"steps": steps, "batch": batch, "step_size": step_size}
    spec = {
        "task": task,
        "algorithm": {"kind": "rfedags", **sizes},
        "participation": {"kind": "bernoulli", "p": 0.5},
        "estimator": "oracle",
        "horizon": {"rounds": rounds},
        "evaluate_every": 1,
        "seed": seed,
    }
    run(from_mapping(spec), sinks=[memory])
    return np.array([r.values["gap"] for r in memory.records if "gap" in r.values])
