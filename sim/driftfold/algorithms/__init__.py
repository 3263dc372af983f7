"""Algorithms: what clients compute, and how the server uses it."""

from driftfold.algorithms.aggregation import along, weighted_sum
from driftfold.algorithms.base import (
    Algorithm,
    Arrivals,
    Endpoint,
    LocalResult,
    Phase,
    Tangent,
)
from driftfold.algorithms.combination import Combination, WeightedSum
from driftfold.algorithms.fedavg import FedAvg
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.server_optimizer import Descend, ServerOptimizer
from driftfold.algorithms.step_size import Decay, Fixed, PerStep, Piecewise, Step, StepSize
from driftfold.algorithms.zo_rfedproj import ZoRFedProj

__all__ = [
    "Algorithm",
    "Arrivals",
    "Broadcast",
    "Combination",
    "Decay",
    "Descend",
    "Endpoint",
    "FedAvg",
    "Fixed",
    "LocalResult",
    "PerStep",
    "Phase",
    "Piecewise",
    "RFedAGS",
    "RFedAvg",
    "RFedProj",
    "RFedSVRG",
    "ServerOptimizer",
    "ServerPoint",
    "Step",
    "StepSize",
    "Tangent",
    "WeightedSum",
    "ZoRFedProj",
    "along",
    "weighted_sum",
]
