"""One system of each kind, and of some that differ much: for what has to hold of all."""

from dataclasses import replace
from typing import Any

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
from driftfold.drift import LabelMixture
from driftfold.label_shift import FlhFtl, Inverse
from driftfold.nets import Mlp
from driftfold.rates import Adaptive, DoG, Hypergradient
from driftfold.risks import BbseSource, Entropy, GuardedRisk, Labelled
from driftfold.spec.job import JobSpec
from driftfold.tasks import DriftingClassification
from driftfold.tasks.streams import Pretraining
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon

ONE_LABEL = Labelled(budget=1)

QUICK: list[Adaptation] = [FedADE(rate=Adaptive(0.03, 0.3))]
"""What is run by default."""

SYSTEMS: list[Adaptation] = [
    *QUICK,
    FedADE(GuardedRisk(negative=0.02), Adaptive(signal_every="round", recompute=True)),
    FedADE(Entropy(), federated=False),
    FedADE(BbseSource(model="current"), DoG(discount=0.9, recentre=3)),
    FedADE(Entropy(), Hypergradient(), personal=("body.1", "head")),
    FedADERelease(low=0.1, high=0.9),
    Hedge(Entropy(), rates=2),
    Hedge(high=0.3, rates=2, federated=False),
    SimilarPeers(FedADE(Entropy()), drift_aware=True),
    Frozen(),
    PriorReweighting(),
    PriorReweighting(FlhFtl(Inverse())),
    UOGD(),
    ATLAS(rates="code"),
    FedPOE(every=1),
    FedCCFA(),
    UdaStandIn(),
    Tent(),
    Tent(federated=True),
    BnAdapt(),
    BnAdapt(federated=True, statistics="running"),
    AdaptiveFedAvg(ONE_LABEL),
    DriftDetection(ONE_LABEL, budget=1),
    FedDrift(ONE_LABEL, delta=0.01, models=3),
    Flash(ONE_LABEL),
]

STREAM = DriftingClassification(
    clients=4,
    batch=10,
    steps=3,
    drift=(LabelMixture(),),
    net=Mlp((12, 8)),
    pretraining=Pretraining(epochs=8, rate=1e-2),
    keep_trained=False,
)
"""A task of a moment: digits, a small net, three steps of label shift."""

TASK = replace(STREAM, batch=6, reference=2)


def job(algorithm: Adaptation, task: DriftingClassification = TASK, **fields: Any) -> JobSpec:
    """Two rounds a step, all steps; nets with batch normalisation for those that need them.

    These have batches of two at least.
    """
    if isinstance(algorithm, Tent | BnAdapt):
        task = replace(task, net=Mlp((12, 8), batch_norm=True), batch=max(2, task.batch))
    usual: dict[str, Any] = {
        "task": task,
        "algorithm": algorithm,
        "cadence": OnlineSteps(rounds=2),
        "horizon": Horizon(rounds=2 * task.steps),
        "evaluate_every": 2,
    }
    return replace(JobSpec(**usual), **fields)
