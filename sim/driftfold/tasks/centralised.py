"""A problem solved with all its data in one place: a baseline, and the source of F*."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array
from driftfold.solvers.base import Iterate, Objective, Solution, Solver
from driftfold.solvers.lrbfgs import Lrbfgs
from driftfold.tasks.base import Problem

REFERENCE = Lrbfgs(tolerance=1e-10, iterations=1000, shortest_step=0.0)
"""The solver that computes F*: a gap of 1e-10 then comes from the model, not from F*."""

_SHORTER = 1e-6  # share of the first gradient's length, where rounding stops a solver before 1e-10


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


def solve(
    problem: Problem,
    solver: Solver = REFERENCE,
    start: Array = None,
    watch: Callable[[Iterate], None] | None = None,
) -> Solution:
    """Minimise F from `start`, or from the problem's own initial point; `watch` sees each iterate.

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
    return solver.minimise(objective_of(problem), point.astype(np.float64, copy=False), watch)


@dataclass(frozen=True)
class Reference:
    """What is known of F* of a problem that a solver has tried to minimise.

    Attributes
    ----------
    value
        F*, or None where no solver has reached it: a gap to another value would mislead.
    remark
        Why there is no value, or nothing.
    """

    value: float | None
    remark: str = ""


def reference(problem: Problem, solver: Solver = REFERENCE) -> Reference:
    """Return F* of a problem as `solver` finds it, if it does.

    It does when the gradient ends as short as the solver was asked for, or a million times shorter
    than at first where no step can be told from rounding any more.

    >>> from driftfold.data.gaussian_blocks import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.pca import Pca
    >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
    >>> found = reference(problem)
    >>> abs(found.value - problem.optimum()) < 1e-12
    True
    >>> reference(problem, Lrbfgs(iterations=2)).remark
    'no gap is told, for F* is not known: after 2 steps the gradient still has length ...'
    """
    solution = solve(problem, solver)
    stuck = solution.why == "no descent"
    short = solution.gradient_norm <= _SHORTER * solution.history[0][1]
    if solution.converged or (stuck and short):
        return Reference(solution.value)
    return Reference(
        None,
        f"no gap is told, for F* is not known: after {solution.iterations} steps the gradient "
        f"still has length {solution.gradient_norm:.2g}, {solver.tolerance:.2g} was wanted",
    )
