"""Adaptation: keeping a deployed classifier right, without labels, while data drift."""

from driftfold.algorithms.adaptation.atlas import ATLAS
from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.adaptation.fedade import FedADE
from driftfold.algorithms.adaptation.frozen import Frozen
from driftfold.algorithms.adaptation.ledger import Ledger
from driftfold.algorithms.adaptation.prior_reweighting import PriorReweighting
from driftfold.algorithms.adaptation.uogd import UOGD

__all__ = [
    "ATLAS",
    "UOGD",
    "Adaptation",
    "Adapted",
    "Adapting",
    "FedADE",
    "Frozen",
    "Ledger",
    "Nothing",
    "OnTheirOwn",
    "PriorReweighting",
]
