from dataclasses import replace

import numpy as np
import pytest
import torch

from driftfold.arrays import Floats
from driftfold.data import SubspaceRegression
from driftfold.errors import SpecError
from driftfold.manifolds import Grassmann
from driftfold.rng import Seed
from driftfold.tasks import FeatureProblem, MultitaskFeatureLearning, solve

DATA = SubspaceRegression(clients=6, samples=9, dimension=7, rank=2)
TASK = MultitaskFeatureLearning(data=DATA, rank=2, ridge=0.05)
IDS = np.arange(6)


def points(problem: FeatureProblem) -> Floats:
    made: Floats = problem.manifold.random_point(Seed(9).stream("points"), IDS)
    return made


def ridge_regression(x: Floats, rows: Floats, shares: Floats, ridge: float) -> float:
    """min over w of (1/2) sum shares (x z w - y)^2 + (ridge/2) |w|^2, by least squares."""
    scale = np.sqrt(shares)
    features = scale[:, None] * (rows[:, :-1] @ x.T)
    system = np.concatenate([features, np.sqrt(ridge) * np.eye(len(x))])
    right = np.concatenate([scale * rows[:, -1], np.zeros(len(x))])
    w = np.linalg.lstsq(system, right, rcond=None)[0]
    return float(((system @ w - right) ** 2).sum() / 2)


def through_the_solution(x: Floats, rows: Floats, shares: Floats, ridge: float) -> Floats:
    """Gradient of that through its solution, by torch."""
    at = torch.tensor(x, requires_grad=True)
    z, y, s = torch.tensor(rows[:, :-1]), torch.tensor(rows[:, -1]), torch.tensor(shares)
    features = z @ at.T
    gram = features.T @ (s[:, None] * features) + ridge * torch.eye(len(x), dtype=at.dtype)
    w = torch.linalg.solve(gram, features.T @ (s * y))
    loss = ((s * (features @ w - y) ** 2).sum() + ridge * (w**2).sum()) / 2
    (gradient,) = torch.autograd.grad(loss, at)
    made: Floats = gradient.numpy()
    return made


@pytest.mark.parametrize("size", [1, 0.5, "full"])
def test_gradient_and_loss_are_those_of_the_best_weights(size: int | float | str) -> None:
    problem = TASK.build(Seed(1))
    view = problem.view(IDS, IDS)
    x = points(problem)
    batch = view.batches(size, 2)[1]  # type: ignore[arg-type]
    loss, gradient = view.loss(x, batch), view.gradient(x, batch)
    for i in IDS:
        rows = problem.data.x[i]
        rows = rows if batch.indices is None else rows[batch.indices[i]]
        weights = batch.weights[i]
        # A few dozen terms of order 1, and systems of condition 100 or less.
        assert abs(loss[i] - ridge_regression(x[i], rows, weights, 0.05)) < 1e-12
        wanted = through_the_solution(x[i], rows, weights, 0.05)
        assert np.abs(gradient[i] - problem.manifold.gradient(x[i], wanted)).max() < 1e-11


def test_the_objective_is_that_of_the_subspace_and_its_optimum_is_stationary() -> None:
    problem = TASK.build(Seed(1))
    x = problem.initial_point()
    each = [ridge_regression(x, rows, np.full(9, 1 / 9), 0.05) for rows in problem.data.x]
    assert problem.objective(x) == pytest.approx(np.mean(each), rel=1e-12)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    assert problem.objective(turn @ x) == pytest.approx(problem.objective(x), rel=1e-12)
    solution = solve(problem)
    assert solution.converged
    assert problem.evaluate(solution.point, 0.0)["gap"] == 0
    assert problem.evaluate(x, 0.0)["gap"] > 0
    total = sum(
        through_the_solution(solution.point, rows, np.full(9, 1 / 9), 0.05)
        for rows in problem.data.x
    )
    assert np.abs(problem.manifold.gradient(solution.point, total)).max() < 1e-9


def test_the_shared_subspace_is_found() -> None:
    data = SubspaceRegression(clients=6, samples=40, dimension=7, rank=2, noise=1e-3)
    problem = replace(TASK, data=data, ridge=1e-6).build(Seed(1))
    found = solve(problem).point
    rows = problem.data.x
    # Without a shared subspace each client would find its own direction in it.
    directions = np.stack([np.linalg.lstsq(r[:, :-1], r[:, -1], rcond=None)[0] for r in rows])
    outside = directions - directions @ found.T @ found
    assert np.linalg.norm(outside) < 1e-2 * np.linalg.norm(directions)


def test_single_precision_follows_double() -> None:
    double, single = TASK.build(Seed(1)), replace(TASK, precision="float32").build(Seed(1))
    x = points(double)
    results = []
    for problem in (double, single):
        view = problem.view(IDS, IDS)
        at = x.astype(problem.data.x.dtype)
        batch = view.everything()
        results.append((view.gradient(at, batch), view.loss(at, batch)))
    for exact, near in zip(*results, strict=True):
        assert near.dtype == np.float32
        assert np.abs(exact - near).max() < 1e-4 * np.abs(exact).max()
    assert single.initial_point().dtype == np.float32


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SpecError, match="7 features and a target have no subspace of dimension 7"):
        replace(TASK, rank=7).build(Seed(1))
    with pytest.raises(SpecError, match=r"have shape \(3, 7\), .* need \(2, 7\)"):
        replace(TASK, manifold=Grassmann(3, 7)).build(Seed(1))
    with pytest.raises(SpecError, match="3 features have no subspace of dimension 5"):
        SubspaceRegression(dimension=3).load(Seed(1))
