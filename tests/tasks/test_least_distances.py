"""Centrally computed optima against an independent solver."""

import numpy as np
import pytest

from driftfold.data import BalancedTree, SyntheticSpd, WrappedNormal
from driftfold.rng import Seed
from driftfold.solvers import Lrbfgs, Objective
from driftfold.tasks import (
    FrechetProblem,
    HyperbolicFrechetMean,
    HyperbolicPrediction,
    PoincareEmbedding,
    SpdFrechetMean,
    Task,
)
from tests.tasks.optima import optimum_of

TREE = PoincareEmbedding(BalancedTree(2, 3), features=2, epochs=10, batch=34)


@pytest.mark.parametrize(
    "task",
    [
        SpdFrechetMean(data=SyntheticSpd(2, 10, 5, freedom=7, heterogeneity=1.0)),
        HyperbolicFrechetMean(data=WrappedNormal(3, 10, 4, radius=3.0, spread=1.0)),
        HyperbolicPrediction(TREE, query="r.0.1", clients=3, bandwidth=0.05),
    ],
    ids=lambda task: type(task).__name__,
)
def test_quasi_newton_steps_find_the_same_minimum(task: Task) -> None:
    problem = task.build(Seed(2))
    assert isinstance(problem, FrechetProblem)
    objective = Objective(problem.manifold, problem.objective, problem.gradient)
    found = Lrbfgs(tolerance=1e-10).minimise(objective, problem.initial_point())
    assert found.converged
    # F is flat there: a gradient of 1e-10 leaves a distance of about as much, and F 1e-20 of it.
    assert abs(found.value - optimum_of(problem)) < 1e-13 * max(1.0, abs(found.value))
    assert problem.manifold.dist(found.point, problem.solution) < 1e-9
    assert np.isfinite(optimum_of(problem))
