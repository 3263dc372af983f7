"""Algorithms: what clients compute, and how the server uses it."""

from driftfold.algorithms.adversarial import Adversarial
from driftfold.algorithms.base import (
    Algorithm,
    Arrivals,
    Endpoint,
    LocalResult,
    Phase,
    Tangent,
    VectorPayload,
)
from driftfold.algorithms.compressed import Compressed
from driftfold.algorithms.fedat import FedAT
from driftfold.algorithms.fedavg import FedAvg
from driftfold.algorithms.fedawe import FedAWE
from driftfold.algorithms.fedvarp import FedVARP
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.mifa import MIFA
from driftfold.algorithms.partial_work import PartialWork
from driftfold.algorithms.private import Private
from driftfold.algorithms.rfed_frechet import RFedFrechet
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedprox import RFedProx
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.step_size import Decay, Fixed, PerStep, Piecewise, Step, StepSize
from driftfold.algorithms.zo_rfedproj import ZoRFedProj
from driftfold.arrays import along
from driftfold.combinations.aggregation import weighted_sum

__all__ = [
    "MIFA",
    "Adversarial",
    "Algorithm",
    "Arrivals",
    "Broadcast",
    "Compressed",
    "Decay",
    "Endpoint",
    "FedAT",
    "FedAWE",
    "FedAvg",
    "FedVARP",
    "Fixed",
    "LocalResult",
    "PartialWork",
    "PerStep",
    "Phase",
    "Piecewise",
    "Private",
    "RFedAGS",
    "RFedAvg",
    "RFedFrechet",
    "RFedProj",
    "RFedProx",
    "RFedSVRG",
    "ServerPoint",
    "Step",
    "StepSize",
    "Tangent",
    "VectorPayload",
    "ZoRFedProj",
    "along",
    "weighted_sum",
]
