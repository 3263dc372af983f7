"""Label targets: shares of the classes that clients' streams move to."""

from driftfold.drift.targets.decay import Decay
from driftfold.drift.targets.dirichlet import Dirichlet
from driftfold.drift.targets.gaussian import Gaussian
from driftfold.drift.targets.given import Given
from driftfold.drift.targets.one_class import OneClass
from driftfold.drift.targets.other_client import OtherClient
from driftfold.drift.targets.partition import Partition
from driftfold.drift.targets.prior import Prior
from driftfold.drift.targets.uniform import Uniform

__all__ = [
    "Decay",
    "Dirichlet",
    "Gaussian",
    "Given",
    "OneClass",
    "OtherClient",
    "Partition",
    "Prior",
    "Uniform",
]
