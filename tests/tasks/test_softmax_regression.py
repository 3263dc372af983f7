from dataclasses import replace

import numpy as np
import pytest
import torch

from driftfold.arrays import Floats, Ints
from driftfold.data import DirichletLabels, GaussianBlocks, GaussianClasses, Natural
from driftfold.errors import SpecError
from driftfold.rng import Seed
from driftfold.tasks import Batch, SoftmaxProblem, SoftmaxRegression, softmax_regression

TASK = SoftmaxRegression(
    data=GaussianClasses(classes=4, features=6, samples=120, separation=2.0),
    partition=DirichletLabels(0.4),
    clients=8,
    weighting="samples",
)
IDS = np.arange(8)


def points(problem: SoftmaxProblem) -> Floats:
    rng = np.random.default_rng(3)
    return rng.standard_normal((8, *problem.manifold.shape))


def rows_and_weights(problem: SoftmaxProblem, batch: Batch, i: int) -> tuple[Floats, Ints, Floats]:
    """Samples, labels and weights of client i, its padding left out."""
    used = np.arange(problem.longest) if batch.indices is None else batch.indices[i]
    real = batch.weights[i] > 0
    rows = used[real]
    return problem.data.x[i][rows], problem.labels[i][rows], batch.weights[i][real]


def by_autograd(z: Floats, y: Ints, w: Floats, x: Floats, l2: float) -> tuple[float, Floats]:
    at = torch.tensor(x, requires_grad=True)
    each = torch.nn.functional.cross_entropy(
        torch.tensor(z) @ at, torch.tensor(y), reduction="none"
    )
    loss = (torch.tensor(w) * each).sum() + l2 / 2 * (at**2).sum()
    (gradient,) = torch.autograd.grad(loss, at)
    return float(loss.detach()), gradient.numpy()


@pytest.mark.parametrize("size", [1, 0.5, 9, "full"])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_gradient_and_loss_are_those_of_autograd(size: int | float | str, l2: float) -> None:
    problem = replace(TASK, l2=l2).build(Seed(1))
    view = problem.view(IDS, IDS)
    x = points(problem)
    batch = view.batches(size, 2)[1]  # type: ignore[arg-type]
    loss, gradient = view.loss(x, batch), view.gradient(x, batch)
    for i in range(8):
        wanted_loss, wanted = by_autograd(*rows_and_weights(problem, batch, i), x[i], l2)
        # A few dozen terms of order 1 to 10.
        assert abs(loss[i] - wanted_loss) < 1e-12
        assert np.abs(gradient[i] - wanted).max() < 1e-12


def test_large_scores_neither_overflow_nor_lose_the_loss() -> None:
    problem = TASK.build(Seed(1))
    view = problem.view(IDS, IDS)
    x = 1e4 * points(problem)
    loss = view.loss(x, view.everything())
    assert np.isfinite(loss).all()
    assert np.isfinite(view.gradient(x, view.everything())).all()
    for i in range(8):
        wanted, _ = by_autograd(*rows_and_weights(problem, view.everything(), i), x[i], 0.0)
        assert np.isclose(loss[i], wanted, rtol=1e-12)


def test_single_precision_follows_double_and_stays_single() -> None:
    double, single = TASK.build(Seed(1)), replace(TASK, precision="float32").build(Seed(1))
    x = points(double)
    for size in (0.5, "full"):
        results = []
        for problem in (double, single):
            view = problem.view(IDS, IDS)
            batch = view.batches(size, 1)[0]
            at = x.astype(problem.data.x.dtype)
            results.append((view.gradient(at, batch), view.loss(at, batch)))
        for exact, near in zip(*results, strict=True):
            assert near.dtype == np.float32
            # 1e-7 is the rounding of one operation; sums of a few dozen.
            assert np.abs(exact - near).max() < 1e-5 * np.abs(exact).max()
    assert single.initial_point().dtype == np.float32
    assert single.itemsize == 4
    assert single.client_bytes < double.client_bytes


def test_evaluation_is_loss_and_accuracy_on_everybodys_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = replace(TASK, l2=0.1).build(Seed(1))
    x = points(problem)[0]
    wanted = right = 0.0
    for a, n, z, y in zip(
        problem.fleet.importance,
        problem.fleet.samples,
        problem.data.x,
        problem.labels,
        strict=True,
    ):
        wanted += a * by_autograd(z[:n], y[:n], np.full(n, 1 / n), x, 0.1)[0]
        right += a * float(((z[:n] @ x).argmax(axis=1) == y[:n]).mean())
    metrics = problem.evaluate(x, time=0.0)
    assert list(metrics) == ["loss", "accuracy"]
    assert np.isclose(metrics["loss"], wanted, rtol=1e-12)
    assert np.isclose(metrics["accuracy"], right, rtol=1e-12)
    assert problem.optimum() is None
    monkeypatch.setattr(softmax_regression, "_TILE_BYTES", 1)  # one client at a time
    tiled = problem.evaluate(x, time=0.0)
    assert np.isclose(tiled["loss"], wanted, rtol=1e-12)


def test_descent_learns_the_classes() -> None:
    problem = TASK.build(Seed(1))
    x = problem.initial_point()
    start = problem.evaluate(x, 0.0)
    assert np.isclose(start["loss"], np.log(4))
    view = problem.view(IDS, IDS)
    for _ in range(100):
        gradients = view.gradient(np.stack([x] * 8), view.everything())
        x = x - 0.2 * np.einsum("i,ijk->jk", problem.fleet.importance, gradients)
    end = problem.evaluate(x, 0.0)
    assert end["loss"] < start["loss"] / 2
    assert end["accuracy"] > 0.8


def test_one_point_alone_is_everybodys() -> None:
    problem = TASK.build(Seed(1))
    view = problem.view(IDS, IDS)
    x = points(problem)[0]
    for batch in (view.everything(), view.batches(2, 1)[0]):
        spread = view.gradient(np.stack([x] * 8), batch)
        assert np.array_equal(view.gradient(x, batch), spread)


def test_data_without_labels_are_refused() -> None:
    task = SoftmaxRegression(data=GaussianBlocks(3, 4, 5), partition=Natural(), clients="natural")
    with pytest.raises(SpecError, match="needs labels and these data have none"):
        task.build(Seed(1))


def test_batch_samples_say_what_batches_hold() -> None:
    problem = TASK.build(Seed(1))
    some = np.array([6, 1])
    n = problem.fleet.samples[some]
    assert problem.batch_samples("full", some).tolist() == n.tolist()
    assert problem.batch_samples(0.5, some).tolist() == np.ceil(n / 2).tolist()
    assert problem.batch_samples(3, some).tolist() == np.minimum(3, n).tolist()
