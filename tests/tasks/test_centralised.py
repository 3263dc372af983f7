from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.data import (
    GaussianBlocks,
    GaussianClasses,
    LowRankRatings,
    SubspaceRegression,
    SyntheticSpd,
    WrappedNormal,
)
from driftfold.rng import Seed
from driftfold.solvers import Lrbfgs, Rcg, Rsd, Solver
from driftfold.tasks import (
    HyperbolicFrechetMean,
    ManifoldNetwork,
    MatrixCompletion,
    MultitaskFeatureLearning,
    Pca,
    SoftmaxRegression,
    SpdFrechetMean,
    Task,
    objective_of,
    solve,
)

# Left out: embeddings of graphs and nets of SPD matrices, whose best points may lie at infinity.
VECTORS = GaussianClasses(classes=3, features=5, samples=90)
TASKS: dict[str, Task] = {
    "pca": Pca(data=GaussianBlocks(6, 9, 8), rank=3),
    "principal eigenvector": Pca(data=GaussianBlocks(6, 9, 8), rank=1),
    "softmax": SoftmaxRegression(data=VECTORS, clients=4, l2=1e-2),
    "completion": MatrixCompletion(
        ratings=LowRankRatings(items=12, users=30, rank=2, oversampling=2.5), clients=6, rank=2
    ),
    "penalised completion": MatrixCompletion(
        ratings=LowRankRatings(items=12, users=30, rank=3, oversampling=1.5),
        clients=6,
        rank=2,
        ridge=0.1,
    ),
    "features": MultitaskFeatureLearning(
        data=SubspaceRegression(clients=6, samples=9, dimension=7, rank=2), rank=2, ridge=0.05
    ),
    "spd mean": SpdFrechetMean(data=SyntheticSpd(clients=4, samples=6, size=4, freedom=9)),
    "hyperbolic mean": HyperbolicFrechetMean(data=WrappedNormal(clients=4, samples=6)),
    "stiefel network": ManifoldNetwork(data=VECTORS, clients=3, width=2, l2=0.1),
}


@pytest.mark.parametrize("name", TASKS)
def test_lrbfgs_reaches_a_gradient_of_1e_10_on_every_task(name: str) -> None:
    problem = TASKS[name].build(Seed(1))
    solution = solve(problem)
    assert solution.converged
    assert solution.gradient_norm <= 1e-10
    x = solution.point
    assert float(problem.manifold.norm(x, problem.gradient(x))) <= 1e-10
    assert float(problem.manifold.off_point(x)) < 1e-12
    best = problem.optimum()
    # The value's error is the square of the gradient's length over the curvature: rounding.
    assert best is None or abs(solution.value - best) <= 1e-12 * max(1, abs(best))


@pytest.mark.parametrize("kind", [Rsd, Rcg])
@pytest.mark.parametrize("name", ["pca", "penalised completion", "spd mean"])
def test_other_solvers_find_the_same_value(kind: Callable[..., Solver], name: str) -> None:
    problem = TASKS[name].build(Seed(1))
    found = solve(problem, kind(tolerance=1e-6, shortest_step=0, iterations=3000))
    assert found.converged
    assert abs(found.value - solve(problem).value) < 1e-9


def test_a_problem_of_single_precision_has_the_optimum_of_double_precision() -> None:
    double = TASKS["features"]
    assert isinstance(double, MultitaskFeatureLearning)
    problem = replace(double, precision="float32").build(Seed(1))
    solution = solve(problem)
    assert solution.converged
    assert solution.point.dtype == np.float64
    assert problem.optimum() == pytest.approx(double.build(Seed(1)).optimum(), rel=1e-5)


def test_a_start_of_ones_own() -> None:
    problem = TASKS["pca"].build(Seed(1))
    assert isinstance(problem.optimum(), float)
    near = solve(problem).point
    again: Any = solve(problem, Lrbfgs(), start=near)
    assert again.iterations == 0
    assert np.array_equal(again.point, near)
    objective = objective_of(problem)
    assert objective.value(near) == problem.objective(near)
