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
from driftfold.algorithms.fedavg import FedAvg
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.step_size import Decay, Fixed, Piecewise, Step, StepSize, step_at
from driftfold.algorithms.zo_rfedproj import ZoRFedProj

__all__ = [
    "Algorithm",
    "Arrivals",
    "Broadcast",
    "Decay",
    "Endpoint",
    "FedAvg",
    "Fixed",
    "LocalResult",
    "Phase",
    "Piecewise",
    "RFedAGS",
    "RFedAvg",
    "RFedProj",
    "RFedSVRG",
    "ServerPoint",
    "Step",
    "StepSize",
    "Tangent",
    "ZoRFedProj",
    "along",
    "step_at",
    "weighted_sum",
]
