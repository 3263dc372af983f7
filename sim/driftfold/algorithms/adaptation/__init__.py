"""Adaptation: keeping a deployed classifier right, without labels, while data drift."""

from driftfold.algorithms.adaptation.adaptive_fedavg import AdaptiveFedAvg
from driftfold.algorithms.adaptation.atlas import ATLAS
from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.adaptation.bn_adapt import BnAdapt
from driftfold.algorithms.adaptation.drift_detection import DriftDetection
from driftfold.algorithms.adaptation.fed_poe import FedPOE
from driftfold.algorithms.adaptation.fedade import FedADE
from driftfold.algorithms.adaptation.fedade_release import FedADERelease
from driftfold.algorithms.adaptation.fedccfa import FedCCFA
from driftfold.algorithms.adaptation.feddrift import FedDrift
from driftfold.algorithms.adaptation.flash import Flash
from driftfold.algorithms.adaptation.frozen import Frozen
from driftfold.algorithms.adaptation.hedge import Hedge
from driftfold.algorithms.adaptation.ledger import Ledger
from driftfold.algorithms.adaptation.prior_reweighting import PriorReweighting
from driftfold.algorithms.adaptation.similar_peers import SimilarPeers
from driftfold.algorithms.adaptation.tent import Tent
from driftfold.algorithms.adaptation.uda_stand_in import UdaStandIn
from driftfold.algorithms.adaptation.uogd import UOGD

__all__ = [
    "ATLAS",
    "UOGD",
    "Adaptation",
    "Adapted",
    "Adapting",
    "AdaptiveFedAvg",
    "BnAdapt",
    "DriftDetection",
    "FedADE",
    "FedADERelease",
    "FedCCFA",
    "FedDrift",
    "FedPOE",
    "Flash",
    "Frozen",
    "Hedge",
    "Ledger",
    "Nothing",
    "OnTheirOwn",
    "PriorReweighting",
    "SimilarPeers",
    "Tent",
    "UdaStandIn",
]
