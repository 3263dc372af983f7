"""Estimators of participation: what a contribution weighs."""

from driftfold.estimators.base import Estimator
from driftfold.estimators.beta import Beta
from driftfold.estimators.capped import Capped
from driftfold.estimators.ewma import Ewma
from driftfold.estimators.fedau import FedAU
from driftfold.estimators.hajek import Hajek
from driftfold.estimators.inclusive import Inclusive
from driftfold.estimators.kalman import Kalman
from driftfold.estimators.none import Unweighted
from driftfold.estimators.oracle import Oracle
from driftfold.estimators.past import Past
from driftfold.estimators.shrunk import Shrunk
from driftfold.estimators.silent import Silent
from driftfold.estimators.window import Window

__all__ = [
    "Beta",
    "Capped",
    "Estimator",
    "Ewma",
    "FedAU",
    "Hajek",
    "Inclusive",
    "Kalman",
    "Oracle",
    "Past",
    "Shrunk",
    "Silent",
    "Unweighted",
    "Window",
]
