from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import (
    GaussianBlocks,
    GaussianClasses,
    LowRankRatings,
    SubspaceRegression,
    SyntheticSpd,
    WrappedNormal,
)
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.solvers import Lrbfgs, Rcg, Rsd, Solver
from driftfold.spec import from_mapping, load_spec, to_mapping
from driftfold.tasks import (
    HyperbolicFrechetMean,
    ManifoldNetwork,
    MatrixCompletion,
    MultitaskFeatureLearning,
    Pca,
    SoftmaxRegression,
    SpdFrechetMean,
    SpdFrechetProblem,
    Task,
    objective_of,
    referenced,
    solve,
)
from driftfold.tasks.centralised import Reference, reference
from driftfold.telemetry import Memory

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


def test_no_gap_is_told_where_the_solver_does_not_arrive() -> None:
    """Users with fewer ratings than dimensions: the gradient falls for ever more slowly."""
    short = Lrbfgs(tolerance=1e-10, iterations=3, shortest_step=0.0)
    found = reference(TASKS["completion"].build(Seed(1)), short)
    assert found.value is None
    assert "no gap is told, for F* is not known: after 3 steps" in found.remark
    assert reference(TASKS["features"].build(Seed(1))).remark == ""


@pytest.mark.parametrize("name", ["completion", "features"])
def test_problems_without_an_optimum_have_no_gap(name: str) -> None:
    problem = TASKS[name].build(Seed(1))
    problem.__dict__["_found"] = Reference(
        None, "not found"
    )  # where it is kept once it is computed
    metrics = problem.evaluate(problem.initial_point(), time=0.0)
    assert "loss" in metrics
    assert "gap" not in metrics
    assert problem.optimum() is None
    assert problem.remark() == "not found"


class Lost(SpdFrechetProblem):
    def minimise(self) -> Array:
        return self.initial_point()


def test_a_mean_that_was_not_found_gives_no_gap() -> None:
    right = TASKS["spd mean"].build(Seed(1))
    assert isinstance(right, SpdFrechetProblem)
    lost = Lost(right.fleet, right.manifold, right.targets, right.scale)
    assert set(lost.evaluate(lost.initial_point(), time=0.0)) == {"loss"}
    assert lost.optimum() is None
    assert "where its solver ends, the gradient still has length" in lost.remark()
    assert right.remark() == ""


def test_the_first_evaluation_of_a_run_says_why_there_is_no_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Users with hardly more ratings than dimensions, who have no end of steps to take."""
    short = Lrbfgs(tolerance=1e-10, iterations=40, shortest_step=0.0)
    monkeypatch.setattr(referenced, "reference", partial(reference, solver=short))
    ratings = {"kind": "synthetic_long_tail", "users": 30, "items": 20, "fewest": 2, "typical": 6}
    task = {"kind": "matrix_completion", "clients": 5, "rank": 2, "ratings": ratings}
    table = to_mapping(load_spec("pca-synthetic"))
    table |= {"task": task, "participation": {"kind": "always"}}
    table |= {"horizon": {"rounds": 2}, "evaluate_every": 1}
    sink = Memory()
    run(from_mapping(table), sinks=[sink])
    told = [record for record in sink.records if record.kind == "evaluation"]
    assert len(told) == 3
    assert all(np.isfinite(record.values["loss"]) for record in told)
    assert not any("gap" in record.values for record in told)
    assert "after 40 steps the gradient still has length" in told[0].note
    assert [record.note for record in told[1:]] == ["", ""]
