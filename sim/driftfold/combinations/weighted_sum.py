"""The plain combination: a sum."""

from dataclasses import dataclass

from driftfold.arrays import Array, Floats
from driftfold.combinations.aggregation import weighted_sum
from driftfold.combinations.base import Combination
from driftfold.manifolds.base import Manifold
from driftfold.registry import register


@register("weighted_sum")
@dataclass(frozen=True)
class WeightedSum(Combination):
    """sum_i w_i v_i: the mean, or with inverse-probability weights its unbiased estimate."""

    def combine(self, manifold: Manifold, x: Array, weights: Floats, vectors: Array) -> Array:
        """Add in order of the clients, in float64."""
        return weighted_sum(weights, vectors)
