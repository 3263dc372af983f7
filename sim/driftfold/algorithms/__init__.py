"""Algorithms: what clients compute, and how the server uses it."""

from driftfold.algorithms.adversarial import Adversarial
from driftfold.algorithms.aggregation import along, weighted_sum
from driftfold.algorithms.attack import Attack
from driftfold.algorithms.base import (
    Algorithm,
    Arrivals,
    Endpoint,
    LocalResult,
    Phase,
    Tangent,
    VectorPayload,
)
from driftfold.algorithms.combination import Combination
from driftfold.algorithms.compressed import Compressed
from driftfold.algorithms.compressor import Compressor
from driftfold.algorithms.descend import Descend
from driftfold.algorithms.fedavg import FedAvg
from driftfold.algorithms.gaussian import Gaussian
from driftfold.algorithms.geometric_median import GeometricMedian
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.algorithms.median import Median
from driftfold.algorithms.private import Private
from driftfold.algorithms.quantiser import Quantiser
from driftfold.algorithms.rank_k import RankK
from driftfold.algorithms.rfed_frechet import RFedFrechet
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedprox import RFedProx
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.scaling import Scaling
from driftfold.algorithms.server_adam import Adam
from driftfold.algorithms.server_momentum import Momentum
from driftfold.algorithms.server_optimizer import ServerOptimizer
from driftfold.algorithms.sign_flip import SignFlip
from driftfold.algorithms.step_size import Decay, Fixed, PerStep, Piecewise, Step, StepSize
from driftfold.algorithms.top_k import TopK
from driftfold.algorithms.trimmed_mean import TrimmedMean
from driftfold.algorithms.weighted_sum import WeightedSum
from driftfold.algorithms.zo_rfedproj import ZoRFedProj

__all__ = [
    "Adam",
    "Adversarial",
    "Algorithm",
    "Arrivals",
    "Attack",
    "Broadcast",
    "Combination",
    "Compressed",
    "Compressor",
    "Decay",
    "Descend",
    "Endpoint",
    "FedAvg",
    "Fixed",
    "Gaussian",
    "GeometricMedian",
    "LocalResult",
    "Median",
    "Momentum",
    "PerStep",
    "Phase",
    "Piecewise",
    "Private",
    "Quantiser",
    "RFedAGS",
    "RFedAvg",
    "RFedFrechet",
    "RFedProj",
    "RFedProx",
    "RFedSVRG",
    "RankK",
    "Scaling",
    "ServerOptimizer",
    "ServerPoint",
    "SignFlip",
    "Step",
    "StepSize",
    "Tangent",
    "TopK",
    "TrimmedMean",
    "VectorPayload",
    "WeightedSum",
    "ZoRFedProj",
    "along",
    "weighted_sum",
]
