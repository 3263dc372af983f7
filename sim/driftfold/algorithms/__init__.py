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
from driftfold.algorithms.combination import Combination
from driftfold.algorithms.descend import Descend
from driftfold.algorithms.fedavg import FedAvg
from driftfold.algorithms.geometric_median import GeometricMedian
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.median import Median
from driftfold.algorithms.rfed_frechet import RFedFrechet
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedprox import RFedProx
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.server_adam import Adam
from driftfold.algorithms.server_momentum import Momentum
from driftfold.algorithms.server_optimizer import ServerOptimizer
from driftfold.algorithms.step_size import Decay, Fixed, PerStep, Piecewise, Step, StepSize
from driftfold.algorithms.trimmed_mean import TrimmedMean
from driftfold.algorithms.weighted_sum import WeightedSum
from driftfold.algorithms.zo_rfedproj import ZoRFedProj

__all__ = [
    "Adam",
    "Algorithm",
    "Arrivals",
    "Broadcast",
    "Combination",
    "Decay",
    "Descend",
    "Endpoint",
    "FedAvg",
    "Fixed",
    "GeometricMedian",
    "LocalResult",
    "Median",
    "Momentum",
    "PerStep",
    "Phase",
    "Piecewise",
    "RFedAGS",
    "RFedAvg",
    "RFedFrechet",
    "RFedProj",
    "RFedProx",
    "RFedSVRG",
    "ServerOptimizer",
    "ServerPoint",
    "Step",
    "StepSize",
    "Tangent",
    "TrimmedMean",
    "WeightedSum",
    "ZoRFedProj",
    "along",
    "weighted_sum",
]
