"""Adversarial clients: who they are, what they send, and what robust combinations make of it."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import Adversarial, Algorithm, RFedAGS, RFedAvg
from driftfold.algorithms.base import VectorPayload
from driftfold.attacks import Attack, Gaussian, Scaling, SignFlip
from driftfold.combinations import GeometricMedian, Median, TrimmedMean, WeightedSum
from driftfold.compute.base import Stack
from driftfold.compute.stacked import StackedEngine
from driftfold.data import GaussianBlocks
from driftfold.errors import SpecError
from driftfold.manifolds import Framed
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.spec.codec import encode
from driftfold.tasks import Pca
from driftfold.tasks.base import Problem
from driftfold.trees import rows
from tests.world import toys

LIST = (2, 5, 6)

assert toys  # importing it registers its kinds


@pytest.fixture(scope="module")
def pca() -> Problem:
    return Pca(data=GaussianBlocks(clients=9, samples=6, dimension=12), rank=3).build(Seed(3))


def payloads(algorithm: Algorithm[Any], problem: Problem) -> VectorPayload:
    (phase,), everyone = algorithm.phases(problem), np.arange(problem.fleet.size)
    download = phase.broadcast(algorithm.begin(problem, problem.initial_point()), 0)
    work = Stack(
        phase, phase.steps, everyone, everyone, np.zeros(len(everyone)), [download], True, None
    )
    payload = StackedEngine(problem, 9).run(work).payload
    assert isinstance(payload, VectorPayload)
    return payload


@pytest.mark.parametrize("inner", [RFedAGS(steps=2), RFedAvg(steps=2)], ids=repr)
@pytest.mark.parametrize(("attack", "factor"), [(SignFlip(), -1), (Scaling(3.0), 3)], ids=repr)
def test_attackers_send_other_vectors(
    inner: Algorithm[Any], attack: Attack, factor: float, pca: Problem
) -> None:
    """And nobody else does, by a single bit. 1e-13: retractions there and back."""
    honest, got = payloads(inner, pca), payloads(Adversarial(inner, attack, LIST), pca)
    manifold, x = pca.manifold, pca.initial_point()
    u, v = honest.to_vector(manifold, x), got.to_vector(manifold, x)
    for client in range(9):
        if client in LIST:
            np.testing.assert_allclose(v[client], factor * u[client], rtol=0, atol=1e-13)
        else:
            a, b = rows(got, client), rows(honest, client)
            np.testing.assert_array_equal(a.to_vector(manifold, x), b.to_vector(manifold, x))


def test_gaussian_vectors_have_their_deviation_and_are_each_ones_own(pca: Problem) -> None:
    manifold, x = pca.manifold, pca.initial_point()
    assert isinstance(manifold, Framed)
    attacked = Adversarial(RFedAGS(), Gaussian(std=2.0), tuple(range(9)))
    c = manifold.coordinates(x, payloads(attacked, pca).to_vector(manifold, x))
    assert abs(c.std() / 2.0 - 1) < 4 / (2 * c.size) ** 0.5  # 4 standard errors
    assert len(np.unique(c)) == c.size


def test_a_share_is_chosen_by_the_seed(pca: Problem) -> None:
    rule = Adversarial(RFedAGS(), SignFlip(), attackers=0.35)
    chosen = rule.who(pca)
    assert chosen.sum() == 3  # 9 * 0.35 is 3.15
    np.testing.assert_array_equal(chosen, rule.who(pca))
    other = Pca(data=GaussianBlocks(clients=9, samples=6, dimension=12), rank=3)
    assert any((rule.who(other.build(Seed(seed))) != chosen).any() for seed in range(4, 9))
    assert not Adversarial(RFedAGS(), SignFlip(), attackers=0.0).who(pca).any()


def test_unknown_clients_cannot_attack(pca: Problem) -> None:
    with pytest.raises(SpecError, match="client 9 is to attack, but there are 9 clients"):
        Adversarial(RFedAGS(), SignFlip(), attackers=(1, 9)).check(pca)


@pytest.mark.parametrize("combine", [Median(), TrimmedMean(0.3), GeometricMedian()], ids=repr)
@pytest.mark.parametrize("attack", [Scaling(-10.0), Gaussian(std=10.0)], ids=repr)
def test_robust_combinations_withstand_what_the_mean_does_not(attack: Attack, combine: Any) -> None:
    """Three of twelve clients attack: the mean runs away, the others stay among the optima."""

    def gap(rule: Any) -> float:
        inner = RFedAGS(steps=2, step_size=0.2, combine=rule)
        table = {
            "task": {"kind": "test-quadratic"},
            "algorithm": encode(Adversarial(inner, attack, 0.25)),
            "horizon": {"rounds": 15},
            "evaluate_every": 15,
        }
        return run(from_mapping(table)).metrics["gap"]

    assert gap(combine) < 1 < 0.2 * gap(WeightedSum())
