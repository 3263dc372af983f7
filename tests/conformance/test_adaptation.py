"""Every adaptation keeps the contract of algorithms, on streams that drift."""

from typing import Any

import pytest

from driftfold.algorithms.adaptation import (
    ATLAS,
    UOGD,
    Adaptation,
    AdaptiveFedAvg,
    BnAdapt,
    DriftDetection,
    FedADE,
    FedADERelease,
    FedCCFA,
    FedDrift,
    FedPOE,
    Flash,
    Frozen,
    Hedge,
    PriorReweighting,
    SimilarPeers,
    Tent,
    UdaStandIn,
)
from driftfold.data import Digits
from driftfold.detectors import PageHinkley
from driftfold.drift import LabelMixture
from driftfold.label_shift import FlhFtl, Inverse, Rogd, RunningMean
from driftfold.nets import Mlp
from driftfold.rates import Adaptive, DoG, FixedRate, Hypergradient
from driftfold.registry import kind_of
from driftfold.risks import (
    BbsePseudo,
    BbseSource,
    Entropy,
    GuardedRisk,
    Labelled,
    PseudoLabels,
    Truth,
)
from driftfold.rng import Seed
from driftfold.tasks import DriftingClassification
from driftfold.tasks.streams import Pretraining, StreamProblem
from driftfold.testing.algorithm import check_algorithm
from tests.modules import own_kinds

EXAMPLES: list[Adaptation] = [
    FedADE(),
    FedADE(risk=Entropy(), rate=FixedRate(0.1), shared_steps=1, personal_steps=3),
    FedADE(risk=BbseSource(Inverse(fix="none"), soft=True), personal=("body.0", "head")),
    FedADE(risk=BbsePseudo(), rate=Adaptive(rule="cube_root", recompute=True), shared_steps=0),
    FedADE(risk=PseudoLabels(), personal=("body", "head"), personal_steps=0),
    FedADE(risk=Truth()),
    FedADE(risk=Entropy(), rate=DoG(discount=0.99, recentre=3)),
    FedADE(risk=Entropy(), rate=Hypergradient(), personal=("body.1", "head")),
    FedADE(risk=Labelled(budget=2)),
    FedADE(risk=Entropy(), federated=False),
    FedADE(risk=GuardedRisk(negative=0.02), rate=Adaptive(signal_every="round")),
    DriftDetection(),
    DriftDetection(PseudoLabels(), detector=PageHinkley(warm_up=2, threshold=0.1), budget=3),
    FedDrift(),
    FedDrift(delta=0.01, models=3),
    Flash(),
    Flash(Entropy(), steps=2, patience=1.0),
    Frozen(),
    PriorReweighting(),
    PriorReweighting(FlhFtl(Inverse()), calibrate="bias_corrected"),
    PriorReweighting(Rogd(Inverse(), horizon=4), calibrate="none"),
    PriorReweighting(Inverse(), when="now", soft=True),
    UOGD(),
    UOGD(RunningMean(Inverse(fix="none")), rate=0.3),
    ATLAS(),
    ATLAS(rates="code", meta="constant", combine="predictions", delayed=True),
    Hedge(Entropy(), rates=2, shared_steps=1, personal_steps=1),
    Hedge(rates=3),
    Hedge(Entropy(), rates=2, federated=False),
    Hedge(Entropy(), rates=2, shared_steps=0, personal_steps=3, range=1.0),
    AdaptiveFedAvg(steps=1),
    AdaptiveFedAvg(BbseSource(), rate=0.3),
    FedADERelease(),
    FedADERelease(low=0.1, high=0.9, mode="eval", returns=True),
    FedPOE(),
    FedPOE(rate=1.0, draws=2, every=1, recent=7, averaging="sequential", labels="truth"),
    FedCCFA(),
    FedCCFA(head_steps=2, body_rate=0.1, body_steps=3, labels="truth"),
    UdaStandIn(),
    Tent(),
    Tent(federated=True, rate=0.1, entropy_steps=2),
    BnAdapt(),
    BnAdapt(federated=True, statistics="running"),
    SimilarPeers(FedADE(risk=Entropy())),
    SimilarPeers(FedADE(risk=Entropy()), temperature="infinite", drift_aware=True),
]


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    """More clients than the largest tile; float64, since the loop adds up in another order."""
    return DriftingClassification(
        data=Digits(),
        clients=66,
        batch=5,
        steps=4,
        reference=1,
        drift=(LabelMixture(),),
        net=Mlp((12, 8), batch_norm=True),
        pretraining=Pretraining(epochs=8, rate=1e-2),
        precision="float64",
        keep_trained=False,
    ).build(Seed(3))


def test_every_adaptation_of_the_library_is_covered() -> None:
    shipped = {kind for kind, cls in own_kinds("algorithm").items() if issubclass(cls, Adaptation)}
    assert shipped <= {kind_of(rule) for rule in EXAMPLES}


QUICK = FedADE, Frozen, PriorReweighting, UOGD
"""Those that stand for the others by default."""


def seldom(algorithm: Adaptation) -> bool:
    """Whether it is run with the slow tests: all but one example of the quick kinds."""
    earlier = EXAMPLES[: EXAMPLES.index(algorithm)]
    same = kind_of(algorithm) in {kind_of(other) for other in earlier}
    return same or not isinstance(algorithm, QUICK)


CASES = [pytest.param(a, marks=pytest.mark.slow if seldom(a) else ()) for a in EXAMPLES]


@pytest.mark.parametrize("algorithm", CASES, ids=lambda a: repr(a)[:60])
def test_contract(algorithm: Any, problem: StreamProblem) -> None:
    check_algorithm(algorithm, problem, rounds=2 if seldom(algorithm) else 1)
