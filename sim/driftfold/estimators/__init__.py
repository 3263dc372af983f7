"""Estimators of participation: what a contribution weighs."""

from driftfold.estimators.base import Estimator
from driftfold.estimators.capped import Capped
from driftfold.estimators.hajek import Hajek
from driftfold.estimators.inclusive import Inclusive
from driftfold.estimators.none import Unweighted
from driftfold.estimators.oracle import Oracle
from driftfold.estimators.past import Past

__all__ = ["Capped", "Estimator", "Hajek", "Inclusive", "Oracle", "Past", "Unweighted"]
