"""T2 and T9: rounds of full participation are centralised descent, and contract as it does."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import RFedAGS, RFedAvg
from driftfold.algorithms.base import Arrivals
from driftfold.arrays import Array
from driftfold.manifolds import Manifold
from driftfold.rng import Seed
from driftfold.tasks.base import Problem
from driftfold.trees import spread
from tests.algorithms.scattered import MANIFOLDS, Scattered
from tests.algorithms.textbook import maps

BATCHES = pytest.mark.parametrize("batch", [2, "full"], ids=str)


def rounds(algorithm: Any, problem: Problem, count: int) -> list[Array]:
    """Iterates of rounds in which all take part, with weights 1/N."""
    everyone = np.arange(problem.fleet.size)
    state = algorithm.begin(problem, problem.initial_point())
    (phase,) = algorithm.phases(problem)
    path = [algorithm.model(state)]
    for t in range(count):
        download = spread(phase.broadcast(state, t), len(everyone))
        view = problem.view(everyone, np.full(len(everyone), t))
        payload = phase.local(download, view, None, phase.steps).payload
        now = np.full(len(everyone), t)
        arrivals = Arrivals(everyone, payload, download, now, now < t)
        state, _ = phase.step(state, arrivals, problem.fleet.importance)
        path.append(algorithm.model(state))
    return path


@BATCHES
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_one_step_of_all_is_centralised_descent(manifold: Manifold, batch: Any) -> None:
    """T2: x <- R_x(alpha mean of Log_x y) over all rows, or all rows drawn, by textbooks."""
    alpha, count = 0.7, 2
    problem: Any = Scattered(manifold).build(Seed(4))
    retract, log = maps(manifold)
    x = manifold.embed(problem.initial_point())
    everyone = np.arange(problem.fleet.size)
    for t in range(count):
        view = problem.view(everyone, np.full(len(everyone), t))
        (drawn,) = view.batches(batch, 1)
        logs = []
        for i in everyone:
            rows = np.arange(6) if drawn.indices is None else drawn.indices[i]
            assert len(rows) == (6 if batch == "full" else 2)
            logs += [log(x, manifold.embed(problem.targets[i, j])) for j in rows]
        x = retract(x, alpha * np.mean(logs, axis=0))
    algorithm = RFedAGS(steps=1, batch=batch, step_size=alpha)
    got = manifold.embed(rounds(algorithm, problem, count)[-1])
    np.testing.assert_allclose(got, x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", [RFedAGS, RFedAvg])
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_full_rounds_contract_by_one_minus_alpha_k(manifold: Manifold, rule: Any) -> None:
    """T9: with points close together the Hessian is the identity, up to squares of distances.

    Local steps contract by (1 - alpha)^K, which is 1 - alpha K up to (alpha K)^2 / 2.
    """
    alpha, steps, near = 0.02, 5, 1e-3
    problem: Any = Scattered(manifold, apart=near, spread=near, away=near).build(Seed(5))
    path = rounds(rule(steps=steps, step_size=alpha), problem, 6)
    distances = np.array([problem.manifold.dist(x, problem.solution) for x in path])
    ratios = distances[1:] / distances[:-1]
    np.testing.assert_allclose(ratios, (1 - alpha) ** steps, rtol=0, atol=20 * near**2)
    assert np.abs(ratios - (1 - alpha * steps)).max() < (alpha * steps) ** 2 / 2


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_one_local_step_averages_alike(manifold: Manifold) -> None:
    """T2: with K = 1 the tangent mean of end points and the mean stream are one vector."""
    problem: Any = Scattered(manifold).build(Seed(6))
    one: dict[str, Any] = {"steps": 1, "batch": 2, "step_size": 0.4}
    streams = rounds(RFedAGS(**one), problem, 2)[-1]
    means = rounds(RFedAvg(server_map="retraction", **one), problem, 2)[-1]
    np.testing.assert_allclose(manifold.embed(means), manifold.embed(streams), rtol=0, atol=1e-12)
