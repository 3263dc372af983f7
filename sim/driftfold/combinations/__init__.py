"""Combinations: how the server makes one tangent vector of many, robust ones among them."""

from driftfold.arrays import along
from driftfold.combinations.base import Combination
from driftfold.combinations.geometric_median import GeometricMedian
from driftfold.combinations.median import Median
from driftfold.combinations.trimmed_mean import TrimmedMean
from driftfold.combinations.weighted_sum import WeightedSum

__all__ = ["Combination", "GeometricMedian", "Median", "TrimmedMean", "WeightedSum", "along"]
