"""Private uploads: bounded lengths, noise of the right size, and what it is worth."""

import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import (
    Adversarial,
    Arrivals,
    LocalResult,
    Private,
    RFedAGS,
    RFedAvg,
    RFedFrechet,
    Tangent,
)
from driftfold.algorithms.accounting import epsilon
from driftfold.algorithms.private import NoisySum, NoisyUploads, PrivateState
from driftfold.arrays import Array, Floats
from driftfold.attacks.sign_flip import SignFlip
from driftfold.combinations.median import Median
from driftfold.data import GaussianBlocks
from driftfold.errors import CapabilityError, SpecError
from driftfold.manifolds import Framed
from driftfold.rng import Seed
from driftfold.tasks import Pca
from driftfold.tasks.base import Problem
from driftfold.trees import spread
from tests.manifolds.points import tangents
from tests.world.toys import Quadratic

CLIP = 0.5


@pytest.fixture(scope="module")
def pca() -> Problem:
    return Pca(data=GaussianBlocks(clients=60, samples=4, dimension=9), rank=3).build(Seed(3))


def sent(algorithm: Private, problem: Problem, vectors: Array) -> Array:
    """What clients 0, 1, ... send where the descent gave these vectors at the first iterate."""
    (phase,), count = algorithm.phases(problem), len(vectors)
    assert isinstance(phase, NoisyUploads)
    state = algorithm.begin(problem, problem.initial_point())
    download = spread(phase.broadcast(state, 0), count)
    view = problem.view(np.arange(count), np.zeros(count, dtype=int))
    payload = phase.after(LocalResult(Tangent(vectors)), download, view, None).payload
    assert isinstance(payload, Tangent)
    return payload.vector


def test_no_vector_is_longer_than_the_bound(pca: Problem) -> None:
    manifold, x = pca.manifold, pca.initial_point()
    u = tangents(manifold, np.broadcast_to(x, (60, *x.shape)), 1.0)
    u = u * np.linspace(0.1, 5, 60)[:, None, None]
    algorithm = Private(RFedAGS(), CLIP, noise=0, where="client")
    v = sent(algorithm, pca, u)
    lengths = manifold.norm(x, u)
    long = lengths > CLIP
    assert long.any() and not long.all()  # noqa: PT018
    np.testing.assert_array_equal(v[~long], u[~long])
    np.testing.assert_allclose(manifold.norm(x, v)[long], CLIP, rtol=1e-14)
    np.testing.assert_allclose(v[long], u[long] * (CLIP / lengths[long])[:, None, None], rtol=1e-14)


def agrees_with_normal(numbers: Floats, std: float) -> None:
    """Mean 0 and this standard deviation, to 4 standard errors of each."""
    count = numbers.size
    assert abs(numbers.mean()) <= 4 * std / count**0.5
    assert abs(numbers.std() / std - 1) <= 4 / (2 * count) ** 0.5


def test_noise_of_clients_in_an_orthonormal_frame(pca: Problem) -> None:
    manifold, x = pca.manifold, pca.initial_point()
    assert isinstance(manifold, Framed)
    algorithm = Private(RFedAGS(), CLIP, noise=2.0, where="client")
    nothing = np.zeros((60, *x.shape))
    v = sent(algorithm, pca, nothing)
    assert manifold.off_tangent(x, v).max() < 1e-13
    agrees_with_normal(manifold.coordinates(x, v), 2.0 * CLIP)
    assert len(np.unique(v[:, 0, 0])) == 60  # each client has its own


def test_noise_of_the_server_on_the_sum() -> None:
    """x_{t+1} - x_t is minus the weighted sum of clipped vectors, minus noise; N = 4, a_i = 1/4."""
    problem = Quadratic(clients=4, dimension=50).build(Seed(2))
    algorithm = Private(RFedAGS(), CLIP, noise=3.0, max_weight=2.0)
    (phase,), x = algorithm.phases(problem), problem.initial_point()
    assert isinstance(phase, NoisySum)
    start, everyone = algorithm.begin(problem, x), np.arange(4)
    u = np.zeros((4, 50))
    u[0, 0], u[1, 1] = 100.0, 0.1
    weights = np.array([0.25, 0.25, 0.3, 4.0])  # the last one is cut to 2 / 4
    moves = []
    for sums in range(40):
        state = replace(start, sums=np.array(sums))
        download = spread(phase.broadcast(state, 0), 4)
        fresh = np.zeros(4, dtype=bool)
        arrivals = Arrivals(everyone, Tangent(u), download, np.zeros(4, dtype=int), fresh)
        new, metrics = phase.step(state, arrivals, weights)
        moves.append(x - algorithm.model(new))
        assert new.uses.tolist() == [1, 1, 1, 1]
        assert int(new.sums) == sums + 1
    assert metrics["clipped"] == 0.25
    std = 3.0 * CLIP * 2.0 / 4  # sigma times the sensitivity C max_weight max a_i
    assert metrics["noise_std"] == std
    summed = np.zeros(50)
    summed[0], summed[1] = 0.25 * CLIP, 0.25 * 0.1
    agrees_with_normal(np.array(moves) - summed, std)


@pytest.mark.parametrize("inner", [RFedAGS(), RFedAvg()], ids=repr)
def test_a_bound_that_nothing_meets_changes_nothing(inner: Any, pca: Problem) -> None:
    """Stale arrivals, too; to the rounding of a transport there and back."""
    algorithm = Private(inner, clip=1e3, noise=0, max_weight=1e3, delta="none")
    (phase,), (plain,) = algorithm.phases(pca), inner.phases(pca)
    state, everyone = algorithm.begin(pca, pca.initial_point()), np.arange(60)
    old = spread(phase.broadcast(state, 0), 60)
    view = pca.view(everyone, np.zeros(60, dtype=int))
    payload = phase.local(old, view, None, 5).payload
    moved, _ = plain.step(
        state.inner, Arrivals(everyone, payload, old, np.zeros(60, int), np.zeros(60, bool)),
        np.full(60, 1 / 60),
    )  # fmt: skip
    for stale, inner_state in ((False, state.inner), (True, moved)):
        late = np.zeros(60, dtype=bool)
        late[::2] = stale
        download = plain.broadcast(inner_state, 1)
        both = spread(download, 60)
        point = np.where(late[:, None, None], old.point, both.point)
        arrivals = Arrivals(
            everyone, payload, replace(both, point=point), np.where(late, 0, 1), late
        )
        weights = np.full(60, 1 / 60)
        wanted, _ = plain.step(inner_state, arrivals, weights)
        got, _ = phase.step(replace(state, inner=inner_state), arrivals, weights)
        np.testing.assert_allclose(got.inner.point, wanted.point, rtol=0, atol=1e-13)


def test_the_client_that_took_part_most_often_counts(pca: Problem) -> None:
    state = PrivateState(None, np.array([3, 0, 7]), np.array(9))
    nobody = PrivateState(None, np.array([0, 0, 0]), np.array(0))
    assert Private(RFedAGS(), noise=0).spent(state) == math.inf
    assert Private(RFedAGS()).spent(nobody) == 0


@pytest.mark.slow  # importing dp_accounting takes seconds
@pytest.mark.parametrize(("multiplier", "releases"), [(1.0, 1), (5.0, 40), (0.8, 3)])
def test_epsilon_is_a_bound_and_a_close_one(multiplier: float, releases: int) -> None:
    """Against the exact delta of Gaussian noise (Balle and Wang 2018, theorem 8)."""
    pytest.importorskip("dp_accounting")
    from scipy.stats import norm

    def exact(eps: float) -> float:
        mu = releases**0.5 / multiplier
        tail = math.exp(eps) * norm.cdf(-mu / 2 - eps / mu)
        return float(norm.cdf(mu / 2 - eps / mu) - tail)

    told = epsilon(multiplier, releases, 1e-5)
    assert exact(told) <= 1e-5 < exact(0.85 * told)


@pytest.mark.slow
def test_who_is_counted_and_for_what() -> None:
    pytest.importorskip("dp_accounting")
    state = PrivateState(None, np.array([3, 0, 7]), np.array(9))
    assert Private(RFedAGS(), noise=4.0).spent(state) == epsilon(4.0, 7, 1e-5)
    local = Private(RFedAGS(), noise=4.0, where="client")
    assert local.spent(state) == epsilon(2.0, 7, 1e-5)
    sampled = Private(RFedAGS(), noise=4.0, presumed_probability=0.1).spent(state)
    assert sampled == epsilon(4.0, 9, 1e-5, 0.1)
    assert sampled < 0.3 * epsilon(4.0, 9, 1e-5)  # amplified
    twice = Private(RFedAGS(), noise=4.0, presumed_probability=0.1).spent(state, exchanges=2)
    assert twice == epsilon(4.0 / 2**0.5, 5, 1e-5, 0.1)  # two sums of the same clients


def test_a_missing_accountant_is_told_before_a_run(
    pca: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(
        SpecError, match=r"pip install 'driftfold\[privacy\]', or set delta to 'none'"
    ):
        Private(RFedAGS()).check(pca)
    Private(RFedAGS(), delta="none").check(pca)


def test_what_has_no_known_sensitivity_is_refused(pca: Problem) -> None:
    for inner in (RFedAGS(combine=Median()), RFedFrechet()):
        with pytest.raises(CapabilityError, match="forms none; choose combine 'weighted_sum'"):
            Private(inner, delta="none").check(pca)
        Private(inner, where="client", delta="none").check(pca)
    with pytest.raises(SpecError, match="sees each client's own vectors"):
        Private(RFedAGS(), where="client", presumed_probability=0.1)


@pytest.mark.parametrize(
    ("outer", "inner", "told"),
    [
        ("server", Private(RFedAGS(), where="client"), "set delta to 'none'"),
        ("client", Adversarial(Private(RFedAGS(), where="client"), SignFlip()), "delta to 'none'"),
        ("server", Private(RFedAGS(), delta="none"), "leave one of them out"),
    ],
)
def test_private_around_private_is_refused_where_both_tell_the_same(
    pca: Problem, outer: Any, inner: Any, told: str
) -> None:
    with pytest.raises(CapabilityError, match=told):
        Private(inner, where=outer).check(pca)
    Private(Private(RFedAGS(), where="client", delta="none")).check(pca)
