"""Which estimator keeps RFedAGS unbiased when participation changes."""

from driftfold.studies.estimators.study import ESTIMATORS

__all__ = ["ESTIMATORS"]
