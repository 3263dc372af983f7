"""Means in hyperbolic space against textbook formulas in the surrounding space."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.data import Data, Dataset, WrappedNormal
from driftfold.errors import DataError, SpecError
from driftfold.manifolds import Lorentz
from driftfold.manifolds.hyperbolic_forms import tangent_to_ambient
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import HyperbolicFrechetMean, HyperbolicMeanProblem, hyperbolic_targets
from tests.tasks.optima import optimum_of

DATA = WrappedNormal(clients=4, samples=6, dimension=3, weighted=True)
TASK = HyperbolicFrechetMean(data=DATA, weighted=True)


@dataclass(frozen=True)
class Given(Data):
    """Rows at hand, all of one client."""

    rows: Any

    def load(self, seed: Seed) -> Dataset:
        rows = np.asarray(self.rows, dtype=np.float64)
        return Dataset(x=rows, owner=np.zeros(len(rows), dtype=np.int64))


def textbook(s: Floats, targets: Floats, weights: Floats) -> tuple[float, Floats]:
    """Sum of w/2 arcosh(-<x, y>)^2 and its gradient -sum w d (y + <x, y> x) / sinh d, ambient."""
    x = np.concatenate([[np.sqrt(1 + s @ s)], s])
    ys = np.concatenate([np.sqrt(1 + (targets**2).sum(1, keepdims=True)), targets], axis=1)
    products = ys @ np.diag([-1.0, *[1.0] * len(s)]) @ x
    d = np.arccosh(-products)
    logs = (d / np.sinh(d))[:, None] * (ys + products[:, None] * x)
    return float(weights @ d**2 / 2), -weights @ logs


@pytest.mark.parametrize("weighted", [True, False])
def test_loss_and_gradient_are_the_textbooks(weighted: bool) -> None:
    data = replace(DATA, weighted=weighted)
    problem = HyperbolicFrechetMean(data=data, weighted=weighted).build(Seed(2))
    ids = np.arange(4)
    view = problem.view(ids, ids)
    x = problem.manifold.random_point(Seed(3).stream("points"), ids)
    loss, gradient = view.loss(x, view.everything()), view.gradient(x, view.everything())
    rows = data.load(Seed(2)).x.reshape(4, 6, -1)
    for i in ids:
        weights = rows[i, :, 3] / rows[i, :, 3].sum() if weighted else np.full(6, 1 / 6)
        wanted_loss, wanted = textbook(x[i], rows[i, :, :3], weights)
        assert abs(loss[i] - wanted_loss) < 1e-12
        # The textbook's arcosh loses digits of distances below 1.
        assert np.abs(tangent_to_ambient(x[i], gradient[i]) - wanted).max() < 1e-11


def test_the_mean_of_two_divides_the_geodesic_by_the_weights() -> None:
    space = Lorentz(2)
    a, b = np.array([0.3, -1.0]), np.array([5.0, 2.0])
    task = HyperbolicFrechetMean(data=Given([[*a, 1.0], [*b, 3.0]]), weighted=True)
    problem = task.build(Seed(1))
    d = float(space.dist(a, b))
    assert abs(space.dist(a, problem.solution) - 0.75 * d) < 1e-13
    assert abs(space.dist(problem.solution, b) - 0.25 * d) < 1e-13
    # F* = 1/2 (1/4 (3d/4)^2 + 3/4 (d/4)^2)
    assert abs(optimum_of(problem) - 3 / 32 * d * d) < 1e-13


@pytest.mark.parametrize(
    "data",
    [
        WrappedNormal(3, 20, 2),
        WrappedNormal(3, 20, 10, radius=8.0, spread=1.0),
        WrappedNormal(3, 20, 2, radius=20.0, spread=2.0),
        WrappedNormal(1, 20, 1, radius=20.0, spread=1e-8),
    ],
    ids=repr,
)
def test_the_gradient_vanishes_at_the_optimum(data: WrappedNormal) -> None:
    problem = HyperbolicFrechetMean(data=data).build(Seed(4))
    x, farthest = problem.solution, 0.0
    for targets in problem.targets:
        farthest = max(farthest, float(problem.manifold.dist(x, targets).max()))
    # A logarithm of length d at radius 20 is known to about 1e-13 d; a point itself to 1e-16.
    assert problem.manifold.norm(x, problem.gradient(x)) < 1e-13 * farthest + 1e-15
    assert problem.evaluate(x, 0.0)["gap"] == 0
    others = problem.manifold.random_point(Seed(8).stream("others"), np.arange(20))
    assert min(problem.evaluate(y, 0.0)["gap"] for y in others) > 0


@pytest.mark.parametrize("kind", ["rfedags", "rfedavg"])
def test_rounds_of_few_clients_find_the_mean(kind: str) -> None:
    spec = from_mapping(
        {
            "task": {
                "kind": "hyperbolic_frechet_mean",
                "data": {"kind": "wrapped_normal", "clients": 5, "samples": 8, "spread": 0.2},
            },
            "algorithm": {"kind": kind, "steps": 2, "step_size": 0.1},
            "horizon": {"rounds": 60},
            "evaluate_every": 60,
        }
    )
    # K steps of gradients at points that differ: what is found is within the drift of alpha K.
    assert run(spec).metrics["distance"] < 0.05


def test_a_weight_counts_as_often_as_a_sample() -> None:
    rows = WrappedNormal(1, 3, 2).load(Seed(1)).x
    twice = HyperbolicFrechetMean(data=Given(rows[[0, 1, 1, 2]])).build(Seed(1))
    heavy = HyperbolicFrechetMean(
        data=Given(np.c_[rows, [0.5, 1.0, 0.5]]), weighted=True
    ).build(Seed(1))  # fmt: skip
    x = twice.initial_point()
    assert abs(twice.objective(x) - heavy.objective(x)) < 1e-14
    assert heavy.manifold.dist(twice.solution, heavy.solution) < 1e-13


def test_single_precision_stays_single() -> None:
    problem: HyperbolicMeanProblem = replace(TASK, precision="float32").build(Seed(1))
    view = problem.view(np.arange(4), np.arange(4))
    x = problem.initial_point()
    assert x.dtype == view.gradient(x, view.everything()).dtype == np.float32
    assert abs(optimum_of(problem) - optimum_of(TASK.build(Seed(1)))) < 1e-5


def test_unfit_weights_and_manifolds_are_refused() -> None:
    with pytest.raises(DataError, match=r"smallest weight of a sample is 0.0"):
        HyperbolicFrechetMean(data=Given([[1.0, 2.0, 0.0]]), weighted=True).build(Seed(1))
    with pytest.raises(SpecError, match=r"'lorentz' with dim = 3"):
        replace(TASK, manifold=Lorentz(2)).build(Seed(1))


def test_many_targets_are_taken_in_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    task = HyperbolicFrechetMean(data=WrappedNormal(clients=5, samples=7))
    whole = task.build(Seed(4)).optimum()
    monkeypatch.setattr(hyperbolic_targets, "TILE", 8)
    tiled = task.build(Seed(4)).optimum()
    assert whole is not None
    assert tiled == pytest.approx(whole, rel=1e-14)  # another order of 35 terms
