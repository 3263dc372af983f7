"""Refusals in nests of wrappers: who asks, and who lacks it, however much lies between."""

from collections.abc import Callable
from typing import Any

import pytest

from driftfold.algorithms import (
    MIFA,
    Adversarial,
    Algorithm,
    Compressed,
    FedVARP,
    Private,
    RFedAGS,
    RFedAvg,
    RFedFrechet,
    RFedSVRG,
)
from driftfold.attacks import SignFlip
from driftfold.combinations import Median
from driftfold.compressors import Quantiser
from driftfold.data import GaussianBlocks
from driftfold.errors import CapabilityError
from driftfold.rng import Seed
from driftfold.tasks import Pca
from driftfold.tasks.base import Problem

Wrap = Callable[[Algorithm[Any]], Algorithm[Any]]
PASSING: list[Wrap] = [  # wrappers that pass on what their inner algorithm needs and lacks
    lambda inner: inner,
    lambda inner: Adversarial(inner, SignFlip()),
    lambda inner: Adversarial(Adversarial(inner, SignFlip()), SignFlip()),
]
WITH_CLIENTS_NOISE: Wrap = lambda inner: Private(inner, where="client", delta="none")  # noqa: E731


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Pca(data=GaussianBlocks(clients=3, samples=4, dimension=5), rank=2).build(Seed(1))


@pytest.mark.parametrize("between", [*PASSING, WITH_CLIENTS_NOISE])
@pytest.mark.parametrize(
    ("outer", "asks"),
    [
        (MIFA, "mifa says itself how vectors are combined"),
        (FedVARP, "fedvarp says itself how vectors are combined"),
        (lambda inner: Private(inner, delta="none"), "private adds noise at the server"),
    ],
)
@pytest.mark.parametrize(
    ("inner", "lacks"),
    [
        (RFedAGS(combine=Median()), "rfedags"),
        (RFedFrechet(), "rfed_frechet"),
        (MIFA(RFedAGS()), "mifa"),
        (FedVARP(Adversarial(RFedAGS(), SignFlip())), "fedvarp"),
    ],
)
def test_a_sum(
    outer: Wrap, asks: str, between: Wrap, inner: Algorithm[Any], lacks: str, problem: Problem
) -> None:
    with pytest.raises(CapabilityError, match=f"^{asks}.*, and {lacks} (does not take|as config)"):
        outer(between(inner)).check(problem)


@pytest.mark.parametrize("between", [*PASSING, WITH_CLIENTS_NOISE])
def test_one_exchange(between: Wrap, problem: Problem) -> None:
    with pytest.raises(CapabilityError, match=r"^mifa remembers .* a round, and rfedsvrg has 2"):
        MIFA(between(RFedSVRG())).check(problem)


@pytest.mark.parametrize("between", PASSING[:2])
@pytest.mark.parametrize(
    ("outer", "asks"),
    [
        (MIFA, "mifa"),
        (lambda inner: Private(inner, delta="none"), "private"),
        (lambda inner: Adversarial(MIFA(inner), SignFlip()), "mifa"),
        (lambda inner: MIFA(Private(inner, delta="none")), "private"),
    ],
)
def test_vectors(outer: Wrap, asks: str, between: Wrap, problem: Problem) -> None:
    """Who is nearest to what lacks them asks first, so what is told is the innermost one."""
    coded = Compressed(RFedAvg(), Quantiser())
    between_asks = asks if between is PASSING[0] else "adversarial"
    sentence = f"^{between_asks} changes tangent vectors, and Levels, which compressed sends, "
    with pytest.raises(CapabilityError, match=sentence):
        outer(between(coded)).check(problem)
