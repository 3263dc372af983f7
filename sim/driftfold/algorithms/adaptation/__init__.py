"""Adaptation: keeping a deployed classifier right, without labels, while data drift."""

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.adaptation.fedade import FedADE
from driftfold.algorithms.adaptation.ledger import Ledger

__all__ = [
    "Adaptation",
    "Adapted",
    "Adapting",
    "FedADE",
    "Ledger",
    "Nothing",
    "OnTheirOwn",
]
