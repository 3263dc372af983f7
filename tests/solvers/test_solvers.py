from collections.abc import Callable
from itertools import islice

import numpy as np
import pymanopt
import pytest
import scipy.optimize

from driftfold.arrays import Array, Floats
from driftfold.manifolds import Stiefel
from driftfold.rng import Seed
from driftfold.solvers import Iterate, Lrbfgs, Objective, Rcg, Rsd, Solver
from tests.solvers.problems import (
    least_eigenvector,
    least_subspace,
    quadratic,
    rosenbrock,
    symmetric,
)

TIGHT: list[Solver] = [
    Rsd(tolerance=1e-8, iterations=5000, shortest_step=0),
    Rcg(tolerance=1e-10, shortest_step=0),
    Lrbfgs(tolerance=1e-10, shortest_step=0),
]
SOLVERS = pytest.mark.parametrize("solver", TIGHT, ids=lambda solver: type(solver).__name__)


def values_of(path: list[Iterate]) -> list[float]:
    return [iterate.value for iterate in path]


@SOLVERS
def test_the_least_eigenvalue(solver: Solver) -> None:
    matrix = symmetric(20, 0)
    start = np.ones(20) / np.sqrt(20)
    solution = solver.minimise(least_eigenvector(matrix), start)
    assert solution.converged
    assert solution.gradient_norm <= solver.tolerance
    # An eigenvalue's error is the square of the gradient's length: all is rounding.
    assert abs(solution.value - np.linalg.eigvalsh(matrix)[0]) < 1e-12
    assert abs(np.linalg.norm(solution.point) - 1) < 1e-14


@SOLVERS
@pytest.mark.parametrize("retraction", ["qr", "polar"])
def test_the_least_subspace(solver: Solver, retraction: str) -> None:
    matrix = symmetric(12, 1)
    start = Stiefel(3, 12).random_point(Seed(1).stream("start"), np.zeros(1, dtype=int))[0]
    solution = solver.minimise(least_subspace(matrix, 3, retraction), start)
    assert solution.converged
    assert abs(solution.value - np.linalg.eigvalsh(matrix)[:3].sum()) < 1e-12


@SOLVERS
def test_a_quadratic_of_condition_100(solver: Solver) -> None:
    solution = solver.minimise(quadratic(np.geomspace(1, 100, 8)), np.zeros(8))
    assert solution.converged
    assert np.abs(solution.point - 1).max() <= solver.tolerance


@SOLVERS
def test_values_never_rise_by_more_than_rounding(solver: Solver) -> None:
    objective = least_eigenvector(symmetric(20, 0))
    path = list(islice(solver.path(objective, np.ones(20) / np.sqrt(20)), 60))
    values = values_of(path)
    assert values[0] > values[5] > values[10]
    assert max(np.diff(values)) < 1e-13
    assert path[0].step == 0
    assert all(iterate.step > 0 for iterate in path[1:])


def test_quasi_newton_steps_find_a_bent_valley() -> None:
    objective, start = rosenbrock(), np.array([-1.2, 1.0])
    solution = Lrbfgs(tolerance=1e-10, shortest_step=0).minimise(objective, start)
    assert solution.converged
    assert np.abs(solution.point - 1).max() < 1e-9
    reference = scipy.optimize.minimize(
        objective.value, start, jac=objective.gradient, method="L-BFGS-B", options={"gtol": 1e-10}
    )
    # The same method but for its line search: about as many steps.
    assert solution.iterations < 2 * reference.nit


def test_in_flat_space_lrbfgs_agrees_with_scipy() -> None:
    scales = np.geomspace(1, 1e4, 30)
    objective = quadratic(scales)
    reference = scipy.optimize.minimize(
        objective.value,
        np.zeros(30),
        jac=objective.gradient,
        method="L-BFGS-B",
        options={"gtol": 1e-9, "ftol": 0, "maxcor": 30},
    )
    solution = Lrbfgs(tolerance=1e-9, shortest_step=0).minimise(objective, np.zeros(30))
    assert solution.converged
    assert np.abs(solution.point - reference.x).max() < 1e-8
    assert solution.iterations < 2 * reference.nit


@pytest.mark.parametrize(
    ("solver", "reference"),
    [
        (Rsd(), pymanopt.optimizers.SteepestDescent),
        (Rcg(), pymanopt.optimizers.ConjugateGradient),
    ],
)
def test_the_same_minimum_as_pymanopt(
    solver: Solver, reference: Callable[..., pymanopt.optimizers.optimizer.Optimizer]
) -> None:
    matrix = symmetric(12, 2)
    rows = Stiefel(2, 12)
    start = rows.random_point(Seed(2).stream("start"), np.zeros(1, dtype=int))[0]
    theirs = pymanopt.manifolds.Stiefel(12, 2)

    @pymanopt.function.numpy(theirs)  # type: ignore[untyped-decorator]
    def cost(x: Floats) -> float:
        return float(np.trace(x.T @ matrix @ x))

    @pymanopt.function.numpy(theirs)  # type: ignore[untyped-decorator]
    def gradient(x: Floats) -> Array:
        return 2 * matrix @ x

    optimizer = reference(verbosity=0, max_iterations=1000)
    result = optimizer.run(
        pymanopt.Problem(theirs, cost, euclidean_gradient=gradient), initial_point=start.T
    )
    solution = solver.minimise(least_subspace(matrix, 2), start)
    assert solution.converged
    assert abs(solution.value - result.cost) < 1e-9  # both stop at a gradient of 1e-6
    assert solution.iterations < 2 * result.iterations


@pytest.mark.parametrize("shift", [1.0, 1e6, -1e6])
def test_lrbfgs_gets_below_the_rounding_of_values(shift: float) -> None:
    # At a million, values resolve gradients of 1e-5 only; slopes resolve the rest.
    objective = quadratic(np.geomspace(1, 100, 6), shift)
    solution = Lrbfgs(tolerance=1e-11, shortest_step=0).minimise(objective, np.zeros(6))
    assert solution.converged
    assert np.abs(solution.point - 1).max() < 1e-11


def test_why_a_solver_stopped() -> None:
    objective, start = quadratic(np.array([1.0, 30.0])), np.zeros(2)
    assert Rsd(iterations=3).minimise(objective, start).why == "iterations"
    short = Rsd(tolerance=0, shortest_step=1e-3).minimise(objective, start)
    assert short.why == "step"
    assert not short.converged
    there = Lrbfgs().minimise(objective, np.ones(2))
    assert (there.why, there.iterations, there.evaluations) == ("gradient", 0, 1)
    uphill = Objective(objective.manifold, objective.value, lambda x: -objective.gradient(x))
    for solver in (Rsd(), Rcg(), Lrbfgs()):
        stuck = solver.minimise(uphill, start)
        assert stuck.why == "no descent"
        assert np.array_equal(stuck.point, start)


def test_the_history_is_that_of_the_path() -> None:
    objective, start = quadratic(np.array([1.0, 30.0])), np.zeros(2)
    solution = Rcg().minimise(objective, start)
    path = list(islice(Rcg().path(objective, start), solution.iterations + 1))
    assert solution.history == tuple((i.value, i.gradient_norm) for i in path)
    assert solution.evaluations == path[-1].evaluations > solution.iterations


def test_steps_into_nowhere_are_shortened() -> None:
    def value(x: Floats) -> float:
        return float(x[0] - np.log(x[0]))

    def gradient(x: Floats) -> Floats:
        return 1 - 1 / x

    for solver in TIGHT:
        # The first trial has length 1 and leaves the domain, where the value is NaN.
        objective = Objective(quadratic(np.ones(1)).manifold, value, gradient)
        solution = solver.minimise(objective, np.array([1.5]))
        assert solution.converged
        assert abs(solution.point[0] - 1) < 1e-7
        assert solver.minimise(objective, np.array([0.01])).converged


def test_a_start_is_left_as_it_was() -> None:
    start = np.ones(20) / np.sqrt(20)
    before = start.copy()
    for solver in TIGHT:
        solver.minimise(least_eigenvector(symmetric(20, 0)), start)
    assert np.array_equal(start, before)
