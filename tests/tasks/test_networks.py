import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
import scipy.linalg
import torch

from driftfold.algorithms import Algorithm, RFedAGS, RFedAvg
from driftfold.arrays import Floats
from driftfold.data import DirichletLabels, GaussianBlocks, GaussianClasses, Natural, SpdClasses
from driftfold.errors import SpecError
from driftfold.manifolds import Euclidean, InvertibleRetraction, Product, Spd, Stiefel
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import load_spec
from driftfold.tasks import ManifoldNetwork, NetworkProblem, SpdNetwork, StiefelNetwork
from driftfold.tasks.spectral import log_above
from driftfold.testing.task import check_task

VECTORS = ManifoldNetwork(
    data=GaussianClasses(classes=3, features=6, samples=120, separation=2.0), clients=4, width=4
)
MATRICES = ManifoldNetwork(
    layer="spd", data=SpdClasses(classes=3, size=5, samples=80, freedom=12), clients=4, width=3
)
KINDS = pytest.mark.parametrize("task", [VECTORS, MATRICES], ids=["stiefel", "spd"])


def spectrum(values: list[float]) -> torch.Tensor:
    """A symmetric matrix with these eigenvalues."""
    n = len(values)
    q = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    return torch.tensor((q * np.array(values)) @ q.T)


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 1.0, 3.0],
        [2.0, 2.0, 2.0],
        [1.0, 1.0, 4.0],
        [1.0, 1.0 + 1e-9, 4.0],
        [1e-8, 1.0, 100.0],
        [1e-8, 1e-9, 3.0],
        [1.0],
    ],
)
def test_logarithms_and_their_derivative(values: list[float]) -> None:
    floor = 1e-3
    matrix = spectrum(values)
    wanted = scipy.linalg.logm(spectrum([max(v, floor) for v in values]).numpy())
    assert np.allclose(log_above(matrix, floor).numpy(), wanted, atol=1e-12)
    # Central differences at one order above rounding; torch's gradcheck asks as much.
    assert torch.autograd.gradcheck(
        lambda s: log_above((s + s.mT) / 2, floor), matrix.requires_grad_(), atol=1e-7
    )


def test_the_derivative_at_the_identity_is_the_identity() -> None:
    s = torch.eye(3, dtype=torch.float64).requires_grad_()
    weights = torch.tensor([[1.0, 2.0, 3.0], [2.0, 5.0, 6.0], [3.0, 6.0, 9.0]], dtype=torch.float64)
    (weights * log_above(s, 1e-6)).sum().backward()
    assert s.grad is not None
    assert torch.allclose(s.grad, weights, rtol=1e-14)


def test_close_eigenvalues_lose_no_digits() -> None:
    for gap in (1e-3, 1e-6, 1e-9, 1e-12):
        s = torch.diag(torch.tensor([1.0, 1.0 + gap], dtype=torch.float64)).requires_grad_()
        log_above(s, 1e-6)[0, 1].backward()
        assert s.grad is not None
        wanted = math.log1p(gap) / gap / 2
        assert float(s.grad[0, 1]) == pytest.approx(wanted, rel=1e-12 + 1e-15 / gap)


def scores_of(problem: NetworkProblem, x: Floats, z: Floats) -> Floats:
    """Class scores from the definition, in NumPy and SciPy."""
    parts = problem.product.split(x)
    if isinstance(problem, StiefelNetwork):
        hidden = np.tanh(z @ parts["layer"].T)
    else:
        inverse = np.linalg.inv(parts["centre"])
        rows = []
        for s in z.reshape(len(z), 5, 5):
            mapped = inverse @ parts["layer"] @ s @ parts["layer"].T @ inverse.T
            values, vectors = np.linalg.eigh(mapped)
            log = vectors @ np.diag(np.log(values)) @ vectors.T
            upper = [
                log[i, j] * (1 if i == j else math.sqrt(2)) for i in range(3) for j in range(i, 3)
            ]
            rows.append(upper)
        hidden = np.array(rows)
    made: Floats = hidden @ parts["weights"] + parts["bias"]
    return made


@KINDS
def test_losses_are_those_of_the_definition(task: ManifoldNetwork) -> None:
    problem = replace(task, l2=0.3).build(Seed(1))
    ids = np.arange(4)
    x = problem.manifold.random_point(Seed(2).stream("points"), ids)
    view = problem.view(ids, ids)
    figures = view.figures(x, view.everything())
    labels = problem.data.y
    assert labels is not None
    for i, n in enumerate(problem.fleet.samples):
        scores, y = scores_of(problem, x[i], problem.data.x[i, :n]), labels[i, :n]
        rest = np.log(np.exp(scores - scores.max(1, keepdims=True)).sum(1)) + scores.max(1)
        loss = np.mean(rest - scores[np.arange(n), y])
        loss += 0.15 * (problem.product.split(x[i])["weights"] ** 2).sum()
        assert figures["loss"][i] == pytest.approx(loss, rel=1e-11)
        assert figures["accuracy"][i] == pytest.approx(np.mean(scores.argmax(1) == y))


@KINDS
def test_the_start_is_on_the_manifold_and_knows_nothing(task: ManifoldNetwork) -> None:
    problem = task.build(Seed(1))
    x = problem.initial_point()
    assert problem.manifold.off_point(x) < 1e-14
    assert problem.evaluate(x, 0.0)["loss"] == pytest.approx(math.log(3), abs=0.3)
    assert isinstance(problem.manifold, InvertibleRetraction)  # what rfedavg needs
    single = replace(task, precision="float32").build(Seed(1))
    assert single.initial_point().dtype == np.float32
    near = single.evaluate(single.initial_point(), 0.0)["loss"]
    assert near == pytest.approx(problem.evaluate(x, 0.0)["loss"], rel=1e-4)


def test_parts_of_the_nets() -> None:
    vectors, matrices = VECTORS.build(Seed(1)), MATRICES.build(Seed(1))
    assert isinstance(vectors, StiefelNetwork)
    assert isinstance(matrices, SpdNetwork)
    assert vectors.product == Product(
        {"layer": Stiefel(4, 6), "weights": Euclidean(4, 3), "bias": Euclidean(3)}
    )
    assert matrices.product == Product(
        {
            "layer": Stiefel(3, 5),
            "centre": Spd(3),
            "weights": Euclidean(6, 3),
            "bias": Euclidean(3),
        }
    )


@KINDS
@pytest.mark.parametrize("algorithm", ["rfedags", "rfedavg"])
def test_federated_training_learns(task: ManifoldNetwork, algorithm: str) -> None:
    made: dict[str, Algorithm[Any]] = {
        "rfedags": RFedAGS(steps=5, batch=10, step_size=0.2),
        "rfedavg": RFedAvg(steps=5, batch=10, step_size=0.2),
    }
    spec = load_spec("orthonormal-network", overrides=["horizon.rounds=15", "evaluate_every=15"])
    clients = replace(task, partition=DirichletLabels(1.0))
    result = run(replace(spec, task=clients, algorithm=made[algorithm]))
    start = task.build(Seed(spec.seed))
    before = start.evaluate(start.initial_point(), 0.0)
    assert result.metrics["loss"] < 0.6 * before["loss"]
    assert result.metrics["accuracy"] > 0.75
    assert start.manifold.off_point(result.model) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-6), ("float32", 1e-3)])
def test_nets_of_matrices_keep_the_contract_of_tasks(
    precision: Literal["float64", "float32"], tolerance: float
) -> None:
    data = SpdClasses(classes=3, size=4, samples=200, freedom=9)
    task = replace(MATRICES, data=data, clients=66, precision=precision)
    check_task(lambda: task.build(Seed(1)), tolerance)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SpecError, match="needs labels and these data have none"):
        ManifoldNetwork(data=GaussianBlocks(3, 4, 5), partition=Natural(), clients=3).build(Seed(1))
    with pytest.raises(SpecError, match="square matrices of at least that size"):
        replace(VECTORS, layer="spd").build(Seed(1))
    with pytest.raises(SpecError, match="a layer of width 6 needs samples"):
        replace(MATRICES, width=6).build(Seed(1))
    with pytest.raises(SpecError, match="size 5 with 4 degrees of freedom are singular"):
        SpdClasses(size=5, freedom=4).load(Seed(1))
