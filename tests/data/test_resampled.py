"""Clients that draw from one data set, and the tasks that take them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from driftfold.algorithms import FedAvg
from driftfold.compute.base import Stack
from driftfold.compute.loop import Loop
from driftfold.compute.stacked import Stacked
from driftfold.data import Dataset, GaussianClasses, Resampled
from driftfold.data.shared import row_weights, share
from driftfold.errors import DataError, SpecError
from driftfold.rng import Seed
from driftfold.tasks import Pca, SoftmaxRegression
from driftfold.tasks.softmax_regression import SoftmaxProblem

TABLE = Dataset(x=np.arange(24.0).reshape(12, 2), y=np.arange(12) % 3)
CLASSES = GaussianClasses(classes=3, features=5, samples=40)


def test_every_row_is_as_likely() -> None:
    rows = Resampled(samples=20).split(TABLE, 300, Seed(3))
    counts = np.bincount(rows.reshape(-1), minlength=12)
    assert chisquare(counts).pvalue > 1e-3  # the seed is fixed
    balanced = Resampled(samples=20, alpha=1e6).split(TABLE, 300, Seed(4))
    assert chisquare(np.bincount(balanced.reshape(-1), minlength=12)).pvalue > 1e-3


def test_classes_are_spread_as_a_dirichlet_law_has_it() -> None:
    """The variance of one class's share: p (1 - p) / (1 + 3 alpha), and that of 50 draws of it."""
    alpha, p, draws = 0.5, 1 / 3, 50
    rows = Resampled(samples=draws, alpha=alpha).split(TABLE, 4000, Seed(5))
    shares = share(TABLE, rows).label_shares
    assert shares is not None
    between = p * (1 - p) / (1 + 3 * alpha)
    expected = between + (p * (1 - p) - between) / draws
    # 4,000 clients: the mean is known to 0.005, the variance to about 2 %.
    assert shares.mean(axis=0) == pytest.approx([p] * 3, abs=0.02)
    assert shares.var(axis=0) == pytest.approx([expected] * 3, rel=0.08)


def test_another_client_moves_nobody() -> None:
    few, more = (Resampled(alpha=0.3).split(TABLE, n, Seed(6)) for n in (5, 17_000))
    assert few.tolist() == more[:5].tolist()


def alike() -> tuple[SoftmaxProblem, SoftmaxProblem]:
    """The same federation with shared rows, and with a copy of its rows for each client."""
    task = SoftmaxRegression(data=CLASSES, partition=Resampled(9, alpha=0.5), clients=30, l2=0.1)
    shared = task.build(Seed(7))
    assert shared.data.rows is not None
    assert shared.data.y is not None
    rows = shared.data.rows
    copied = replace(shared.data, x=shared.data.x[rows], y=shared.data.y[rows], rows=None)
    return shared, SoftmaxProblem(copied, shared.fleet, l2=0.1)


@pytest.mark.parametrize("batch", [4, "full"])
@pytest.mark.parametrize("engine", [Stacked(), Loop()])
def test_work_on_shared_rows_is_that_on_copies(batch: int | str, engine: Stacked | Loop) -> None:
    clients, made = np.array([3, 4, 11]), []
    for problem in alike():
        algorithm = FedAvg(steps=3, batch=batch)  # type: ignore[arg-type]
        (phase,) = algorithm.phases(problem)
        down = phase.broadcast(algorithm.begin(problem, problem.initial_point()), 0)
        stack = Stack(
            phase, 3, clients, np.full(3, 5), np.zeros(3), [down], shared=True, memory=None
        )
        made.append(engine.engine(problem).run(stack).payload.point)
    assert made[0].tolist() == made[1].tolist()
    assert abs(made[0]).max() > 0


def test_the_objective_is_that_of_copies() -> None:
    shared, copied = alike()
    x = Seed(8).stream("x").normal(np.arange(5), 0, 3)
    assert shared.evaluate(x, 0.0) == pytest.approx(copied.evaluate(x, 0.0), rel=1e-12)
    assert row_weights(shared.data, shared.fleet.importance).sum() == pytest.approx(1.0)


def test_what_is_refused() -> None:
    with pytest.raises(SpecError, match="'resampled' clients share samples"):
        Pca(data=CLASSES, partition=Resampled(), clients=4, rank=1).build(Seed(1))
    with pytest.raises(SpecError, match="divides by label"):
        Resampled(alpha=1.0).split(Dataset(x=np.zeros((3, 1))), 2, Seed(1))
    with pytest.raises(DataError, match="names rows 0"):
        share(Dataset(x=np.zeros((2, 1))), np.array([[0, 2]]))
