"""The coordinatewise median: robust while less than half of the weight is wrong.

Yin, D., Chen, Y., Ramchandran, K., Bartlett, P.: "Byzantine-robust distributed learning: towards
optimal statistical rates", ICML 2018, Definition 1, for vectors with weights.
"""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.combinations.base import Combination
from driftfold.combinations.order_statistics import median, tangent_location
from driftfold.manifolds.base import Manifold
from driftfold.registry import register


@register("median")
@dataclass(frozen=True)
class Median(Combination):
    """sum_i w_i times the weighted median of each coordinate in an orthonormal frame of T_x M.

    Frames are the manifold's; on the few that have none (those of geoopt) coordinates are the
    entries of the stored arrays, and the result is projected onto T_x M. In another frame it would
    be another median; "geometric_median" depends on no frame.
    """

    def combine(self, manifold: Manifold, x: Array, weights: Floats, vectors: Array) -> Array:
        """Take the medians, whatever order the clients are in."""
        middle = tangent_location(median, manifold, x, weights, vectors)
        return float(np.sort(weights).sum()) * middle
