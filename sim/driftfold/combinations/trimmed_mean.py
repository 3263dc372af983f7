"""The coordinatewise trimmed mean: robust while less than the trimmed share of the weight is wrong.

Yin, D., Chen, Y., Ramchandran, K., Bartlett, P.: "Byzantine-robust distributed learning: towards
optimal statistical rates", ICML 2018, Definition 2, for vectors with weights.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Lt

from driftfold.arrays import Array, Floats
from driftfold.combinations import order_statistics
from driftfold.combinations.base import Combination
from driftfold.combinations.order_statistics import tangent_location
from driftfold.manifolds.base import Manifold
from driftfold.registry import register


@register("trimmed_mean")
@dataclass(frozen=True)
class TrimmedMean(Combination):
    """sum_i w_i times the trimmed mean of each coordinate in an orthonormal frame of T_x M.

    Of each coordinate the smallest and the largest numbers are left out, `share` of the whole
    weight at each end; a number that the cut goes through counts in part. The frame is that of
    "median".

    Attributes
    ----------
    share
        Share beta of the weight that is cut off at each end, below 1/2; 0 is the mean.
    """

    share: Annotated[float, Ge(0), Lt(0.5)] = 0.2

    def combine(self, manifold: Manifold, x: Array, weights: Floats, vectors: Array) -> Array:
        """Average what is left, whatever order the clients are in."""
        rule = order_statistics.trimmed_mean(self.share)
        middle = tangent_location(rule, manifold, x, weights, vectors)
        return float(np.sort(weights).sum()) * middle
