"""A problem solved with all its data in one place: a baseline, and the source of F*."""

import numpy as np

from driftfold.arrays import Array
from driftfold.solvers.base import Objective, Solution, Solver
from driftfold.solvers.lrbfgs import Lrbfgs
from driftfold.tasks.base import Problem

REFERENCE = Lrbfgs(tolerance=1e-10, iterations=5000, shortest_step=0.0)
"""The solver that computes F*: a gap of 1e-10 then comes from the model, not from F*."""


def objective_of(problem: Problem) -> Objective:
    """Return F of a problem, with its gradient, as solvers take it.

    >>> from driftfold.data.gaussian_blocks import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.pca import Pca
    >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
    >>> objective = objective_of(problem)
    >>> objective.value(problem.initial_point()) > problem.optimum()
    True
    """
    return Objective(problem.manifold, problem.objective, problem.gradient)


def solve(problem: Problem, solver: Solver = REFERENCE, start: Array = None) -> Solution:
    """Minimise F from `start`, or from the problem's own initial point.

    Points are of double precision, whatever the problem's own are: single precision resolves no
    gradient of 1e-10. Where F is not convex along geodesics the minimum is a local one.

    >>> from driftfold.data.gaussian_blocks import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.pca import Pca
    >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
    >>> solution = solve(problem)
    >>> solution.converged, abs(solution.value - problem.optimum()) < 1e-12
    (True, True)
    """
    point = problem.initial_point() if start is None else start
    return solver.minimise(objective_of(problem), point.astype(np.float64, copy=False))
