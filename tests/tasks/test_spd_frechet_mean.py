"""The mean of SPD matrices against textbook formulas on the matrices themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from driftfold.arrays import Floats
from driftfold.data import Data, Dataset, SyntheticSpd
from driftfold.errors import DataError, SpecError
from driftfold.manifolds import Sphere
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import SpdFrechetMean, SpdFrechetProblem
from driftfold.telemetry import Memory
from tests.tasks.optima import optimum_of

SMALL = SyntheticSpd(clients=3, samples=7, size=4, freedom=6, heterogeneity=0.5)


@dataclass(frozen=True)
class Given(Data):
    """Matrices at hand, one client for each stack."""

    matrices: Any

    def load(self, seed: Seed) -> Dataset:
        stacks = np.asarray(self.matrices)
        n = stacks.shape[-1]
        owner = np.repeat(np.arange(len(stacks)), stacks.shape[1])
        return Dataset(x=stacks.reshape(-1, n * n), owner=owner)


def problem_of(matrices: Any) -> SpdFrechetProblem:
    return SpdFrechetMean(data=Given(matrices)).build(Seed(1))


def mean_of(matrices: Any) -> Floats:
    problem = problem_of(matrices)
    mean: Floats = problem.manifold.embed(problem.solution)
    return mean


def textbook(x: Floats, matrices: Floats) -> tuple[float, Floats]:
    """Mean of 1/2 dist(X, Y)^2, and its gradient -mean X^(1/2) log(X^(-1/2) Y X^(-1/2)) X^(1/2)."""
    root = scipy.linalg.sqrtm(x)
    back = np.linalg.inv(root)
    white = back @ matrices @ back
    values, vectors = np.linalg.eigh((white + white.swapaxes(1, 2)) / 2)
    logs = (vectors * np.log(values)[:, None, :]) @ vectors.swapaxes(1, 2)
    return float((logs**2).sum((1, 2)).mean() / 2), -root @ logs.mean(axis=0) @ root


def rotation(n: int, seed: int) -> Floats:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0].astype(np.float64)


def test_loss_and_gradient_are_the_textbooks() -> None:
    problem = SpdFrechetMean(data=SMALL).build(Seed(2))
    ids = np.arange(3)
    view = problem.view(ids, ids)
    factors = problem.manifold.random_point(Seed(3).stream("points"), ids)
    loss, gradient = (
        view.loss(factors, view.everything()),
        view.gradient(factors, view.everything()),
    )
    matrices = problem.manifold.embed(problem.targets)
    for i in ids:
        x = factors[i] @ factors[i].T
        wanted_loss, wanted = textbook(x, matrices[i])
        # Conditions are up to 1e4, of which matrix functions of X and Y lose digits.
        assert abs(loss[i] - wanted_loss) < 1e-10 * wanted_loss
        got = factors[i] @ gradient[i] @ factors[i].T
        assert np.abs(got - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_a_batch_is_the_mean_over_the_rows_drawn() -> None:
    problem = SpdFrechetMean(data=SMALL).build(Seed(2))
    ids = np.arange(3)
    view = problem.view(ids, ids)
    (batch,) = view.batches(3, 1)
    assert batch.indices is not None
    x = problem.initial_point()
    matrices = problem.manifold.embed(problem.targets)
    for i in ids:
        wanted, _ = textbook(x @ x.T, matrices[i, batch.indices[i]])
        assert abs(view.loss(x, batch)[i] - wanted) < 1e-10 * wanted


def test_the_mean_of_two_is_the_geometric_mean() -> None:
    a, b = SMALL.load(Seed(5)).x[:2].reshape(2, 4, 4)
    root = scipy.linalg.sqrtm(a)
    back = np.linalg.inv(root)
    wanted = root @ scipy.linalg.sqrtm(back @ b @ back) @ root
    assert np.abs(mean_of([[a, b]]) - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_matrices_that_commute_are_averaged_by_their_logarithms() -> None:
    """Up to a condition of 1e10."""
    q = rotation(5, 0)
    exponents = np.random.default_rng(1).uniform(-5, 5, (6, 5))
    exponents[:, 0], exponents[:, -1] = -5, 5
    matrices = q * 10.0 ** exponents[:, None, :] @ q.T
    mean = mean_of(((matrices + matrices.swapaxes(1, 2)) / 2)[None])
    wanted = 10.0 ** exponents.mean(axis=0)
    # The matrices themselves know their small eigenvalues to 1e-16 of the largest: 1e-6 of them.
    assert np.allclose(np.diag(q.T @ mean @ q)[1:], wanted[1:], rtol=1e-4)
    assert abs(np.linalg.slogdet(mean)[1] / np.log(wanted).sum() - 1) < 1e-5


def test_the_mean_moves_with_a_congruence() -> None:
    rows = SMALL.load(Seed(6)).x.reshape(1, -1, 4, 4)
    g = np.random.default_rng(2).standard_normal((4, 4)) + 2 * np.eye(4)
    moved = g @ rows @ g.T
    mean = g @ mean_of(rows) @ g.T
    assert np.abs(mean_of((moved + moved.swapaxes(-1, -2)) / 2) - mean).max() < 1e-11 * mean.max()


@pytest.mark.parametrize(
    ("data", "floor"),
    [
        (SMALL, 1e-14),
        # Rounding of logarithms grows with the condition, here up to 1e10.
        (SyntheticSpd(2, 30, 6, freedom=7, condition=1e6, heterogeneity=2.0), 1e-12),
    ],
)
def test_the_optimum_is_found_in_less_than_60_steps(
    data: SyntheticSpd, floor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = SpdFrechetMean(data=data).build(Seed(4))
    norms: list[float] = []
    gradient = SpdFrechetProblem.gradient

    def counted(self: SpdFrechetProblem, x: Floats) -> Floats:
        g = gradient(self, x)
        norms.append(float(self.manifold.norm(x, g)))
        made: Floats = g
        return made

    monkeypatch.setattr(SpdFrechetProblem, "gradient", counted)
    x = problem.solution
    taken = next(k for k, norm in enumerate(norms) if norm < 10 * floor)
    assert taken < 60
    assert problem.manifold.norm(x, problem.gradient(x)) < 10 * floor
    best = problem.evaluate(x, 0.0)
    assert best["gap"] == 0
    assert best["distance"] < 10 * floor
    others = problem.manifold.random_point(Seed(8).stream("others"), np.arange(20))
    assert min(problem.evaluate(y, 0.0)["gap"] for y in others) > 0


def test_the_scale_multiplies_the_loss() -> None:
    half = SpdFrechetMean(data=SMALL).build(Seed(1))
    whole = SpdFrechetMean(data=SMALL, scale=1.0).build(Seed(1))
    x = half.initial_point()
    assert whole.objective(x) == 2 * half.objective(x)
    assert np.array_equal(whole.gradient(x), 2 * half.gradient(x))
    assert abs(half.manifold.dist(half.solution, whole.solution)) < 1e-13


def test_the_start_is_the_experiments() -> None:
    start = SpdFrechetMean(data=SMALL).build(Seed(7)).initial_point()
    values = np.linalg.eigvalsh(start @ start.T)
    assert ((values >= 1) & (values < 2)).all()
    assert np.ptp(values) > 0.01
    assert np.abs(start - np.diag(np.diag(start))).max() > 0.01  # in a rotated frame


def test_single_precision_stays_single() -> None:
    problem = SpdFrechetMean(data=SMALL, precision="float32").build(Seed(1))
    ids = np.arange(3)
    view = problem.view(ids, ids)
    x = problem.initial_point()
    assert x.dtype == np.float32
    assert problem.point_bytes == 4 * 16
    for size in (2, "full"):
        (batch,) = view.batches(size, 1)
        assert view.gradient(x, batch).dtype == view.loss(x, batch).dtype == np.float32
    exact = SpdFrechetMean(data=SMALL).build(Seed(1))
    # Distances are of order 1, and single precision knows 6e-8.
    assert abs(optimum_of(problem) - optimum_of(exact)) < 1e-5


@pytest.mark.parametrize("kind", ["rfedags", "rfedavg"])
def test_full_rounds_contract_by_one_minus_alpha_k(kind: str) -> None:
    """T9: with matrices close together the Hessian is near the identity."""
    alpha, steps = 0.02, 5
    data = {"kind": "synthetic_spd", "clients": 4, "samples": 5, "size": 3, "freedom": 200}
    spec = from_mapping(
        {
            "task": {"kind": "spd_frechet_mean", "data": data},
            "algorithm": {"kind": kind, "steps": steps, "step_size": alpha},
            "horizon": {"rounds": 12},
            "evaluate_every": 1,
        }
    )
    memory = Memory()
    run(spec, sinks=[memory])
    distances = np.array([r.values["distance"] for r in memory.records if "distance" in r.values])
    ratios = distances[1:] / distances[:-1]
    # K steps contract by (1 - alpha)^K = 0.9039; curvature makes early rounds a little faster.
    assert len(ratios) == 12
    assert np.abs(ratios[6:] - (1 - alpha) ** steps).max() < 2e-3
    assert np.abs(ratios - (1 - alpha * steps)).max() < 0.03


def test_unfit_matrices_and_manifolds_are_refused() -> None:
    with pytest.raises(DataError, match=r"1 of 2 matrices are not positive definite"):
        problem_of([[np.eye(2), np.diag([1.0, -0.5])]])
    with pytest.raises(DataError, match=r"up to 1 from symmetric"):
        problem_of([[np.eye(2), np.array([[2.0, 1.0], [0.0, 2.0]])]])
    with pytest.raises(SpecError, match=r"'spd' with n = 4"):
        SpdFrechetMean(data=SMALL, manifold=Sphere(4)).build(Seed(1))
