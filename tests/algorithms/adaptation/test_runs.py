"""Adaptations through the whole simulator: virtual time, phases, evaluation, digests."""

from dataclasses import replace

import pytest

from driftfold.algorithms.adaptation import (
    ATLAS,
    UOGD,
    Adaptation,
    FedADE,
    Frozen,
    Hedge,
    PriorReweighting,
)
from driftfold.compute import Stacked
from driftfold.label_shift import Inverse
from driftfold.rates import DoG, Hypergradient
from driftfold.result import Result
from driftfold.risks import Entropy
from driftfold.run import run
from driftfold.spec.job import JobSpec
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon
from tests.algorithms.adaptation.systems import STREAM

ALONE: list[Adaptation] = [PriorReweighting(Inverse(), when="now"), UOGD(), ATLAS()]
TOGETHER: list[Adaptation] = [
    Hedge(rates=2),
    FedADE(Entropy(), DoG(discount=0.9, recentre=3)),
    FedADE(Entropy(), Hypergradient()),
]


def ran(algorithm: Adaptation, tile: int | None = None) -> Result:
    spec = JobSpec(
        task=replace(STREAM, clients=3),
        algorithm=algorithm,
        cadence=OnlineSteps(),
        horizon=Horizon(rounds=3),
        compute=Stacked(tile=tile),
    )
    return run(spec)


SLOW = [pytest.param(a, marks=pytest.mark.slow) for a in [*ALONE, *TOGETHER[1:]]]


@pytest.mark.parametrize("algorithm", [TOGETHER[0], *SLOW], ids=lambda a: repr(a)[:30])
def test_runs_do_not_depend_on_tiles(algorithm: Adaptation) -> None:
    one, other = ran(algorithm), ran(algorithm, tile=1)
    assert one.metrics_digest == other.metrics_digest
    assert one.evaluation_digest == other.evaluation_digest
    assert one.model_digest == other.model_digest
    assert one.counts["accepted"] == 3 * 3 * (2 if algorithm in TOGETHER else 1)
    assert 0 < one.metrics["accuracy_visits"] <= 1


@pytest.mark.slow
def test_those_alone_leave_the_servers_model_alone() -> None:
    start = ran(Frozen())
    for algorithm in ALONE:
        result = ran(algorithm)
        assert result.model_digest == start.model_digest
        assert result.metrics["accuracy_everyone"] != start.metrics["accuracy_everyone"]
