"""Every wrapper around every algorithm that sends points, vectors or arrays keeps its contract."""

from typing import Any

import pytest

from driftfold.algorithms import (
    Adversarial,
    Algorithm,
    Compressed,
    FedAvg,
    Private,
    RFedAGS,
    RFedAvg,
    RFedFrechet,
    RFedProj,
    RFedSVRG,
)
from driftfold.attacks import Gaussian, Scaling, SignFlip
from driftfold.compressors import Quantiser, RankK, TopK
from driftfold.data import GaussianBlocks, GaussianClasses
from driftfold.rng import Seed
from driftfold.tasks import Pca, SoftmaxRegression
from driftfold.tasks.base import Problem
from driftfold.testing.algorithm import check_algorithm

SMALL = Pca(data=GaussianBlocks(clients=5, samples=4, dimension=7), rank=3)
LARGE = Pca(data=GaussianBlocks(clients=66, samples=9, dimension=12), rank=5)
FLOAT32 = SoftmaxRegression(
    data=GaussianClasses(classes=4, features=6, samples=900), clients=66, precision="float32"
)
INNER: list[Algorithm[Any]] = [
    RFedAGS(steps=2, batch=2),
    RFedAvg(steps=2, batch=2),
    RFedProj(steps=2, batch=2),
]


def wrapped(inner: Algorithm[Any]) -> list[Algorithm[Any]]:
    """All wrappers, and one in another."""
    attacked = Adversarial(inner, Gaussian(0.1), attackers=(1, 3))
    return [
        Compressed(inner, Quantiser(), error_feedback=True),
        Compressed(inner, TopK(3)),
        Compressed(inner, RankK(1), error_feedback=True),
        Private(inner, clip=0.01, noise=0.5, delta="none"),
        Private(inner, clip=0.01, noise=0.5, where="client", delta="none"),
        Adversarial(inner, SignFlip(), attackers=0.4),
        Compressed(Private(attacked, clip=0.01, delta="none"), Quantiser(scale="max")),
    ]


@pytest.fixture(scope="module")
def small() -> Problem:
    return SMALL.build(Seed(3))


@pytest.mark.parametrize("inner", INNER, ids=repr)
@pytest.mark.parametrize("number", [0, 4, 6])
def test_contract(inner: Algorithm[Any], number: int, small: Problem) -> None:
    check_algorithm(wrapped(inner)[number], small)


@pytest.mark.slow
@pytest.mark.parametrize("inner", INNER, ids=repr)
@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_contract_of_the_others(inner: Algorithm[Any], number: int, small: Problem) -> None:
    check_algorithm(wrapped(inner)[number], small)


@pytest.mark.slow
@pytest.mark.parametrize(
    "inner", [*INNER, RFedSVRG(steps=2, batch=4), RFedFrechet(steps=2, batch=2)], ids=repr
)
def test_contract_with_many_clients(inner: Algorithm[Any]) -> None:
    problem = LARGE.build(Seed(3))
    # a Fréchet mean is no sum, so its server cannot add noise to one
    chosen = [0, 1, 2, 4, 5] if isinstance(inner, RFedFrechet) else range(7)
    for number in chosen:
        check_algorithm(wrapped(inner)[number], problem)


@pytest.mark.slow
@pytest.mark.parametrize("inner", [FedAvg(steps=2, batch=4), RFedAGS(steps=2, batch=4)], ids=repr)
def test_contract_in_single_precision(inner: Algorithm[Any]) -> None:
    """A level that is rounded differently is one of 200: 1e-2 of a coordinate's scale."""
    problem = FLOAT32.build(Seed(3))
    for algorithm in (
        Private(inner, clip=0.01, delta="none", where="client"),
        Adversarial(inner, Scaling(), attackers=0.4),
        Compressed(inner, TopK(1.0), error_feedback=True),
    ):
        check_algorithm(algorithm, problem, 1e-5)
