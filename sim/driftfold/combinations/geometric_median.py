"""The geometric median: robust while less than half of the weight is wrong, in any coordinates.

Pillutla, K., Kakade, S. M., Harchaoui, Z.: "Robust aggregation for federated learning", IEEE
Transactions on Signal Processing 2022, Algorithm 2 (smoothed Weiszfeld), with lengths in the metric
of the manifold at x. The start is the coordinatewise median in place of the mean, so that the first
lengths are not those of outliers; smoothing and tolerance are in units of the vectors' spread,
since updates get short as a run converges.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Array, Floats
from driftfold.combinations.aggregation import weighted_sum
from driftfold.combinations.base import Combination
from driftfold.combinations.order_statistics import by_column, median, tangent_location
from driftfold.manifolds.base import Manifold
from driftfold.registry import register


@register("geometric_median")
@dataclass(frozen=True)
class GeometricMedian(Combination):
    """sum_i w_i times the z in T_x M at which sum_i w_i |z - v_i|_x is smallest.

    Attributes
    ----------
    iterations
        Iterations of Weiszfeld's at most.
    tolerance
        Length of an iteration at which to stop, as a multiple of the spread: of the weighted median
        of |z - v_i| at the start.
    smoothing
        Least distance that counts, as a multiple of the spread; keeps weights finite where z meets
        one of the vectors.
    """

    iterations: Annotated[int, Gt(0)] = 100
    tolerance: Annotated[float, Ge(0)] = 1e-8
    smoothing: Annotated[float, Gt(0)] = 1e-6

    def combine(self, manifold: Manifold, x: Array, weights: Floats, vectors: Array) -> Array:
        """Iterate z <- sum_i b_i v_i / sum_i b_i, b_i = w_i / |z - v_i|, in float64."""
        v = vectors.astype(np.float64, copy=False)
        z = tangent_location(median, manifold, x, weights, v)
        distances = _lengths(manifold, x, v - z)
        spread = float(by_column(median, weights, distances[:, None])[0])
        for _ in range(self.iterations if spread > 0 else 0):
            pulls = weights / np.maximum(distances, self.smoothing * spread)
            nearer = weighted_sum(pulls / pulls.sum(), v)
            moved = float(manifold.norm(x, nearer - z))
            z, distances = nearer, _lengths(manifold, x, v - nearer)
            if moved <= self.tolerance * spread:
                break
        return (float(weights.sum()) * z).astype(vectors.dtype, copy=False)


@np.errstate(over="ignore", invalid="ignore")
def _lengths(manifold: Manifold, x: Array, u: Array) -> Floats:
    """Lengths at x; infinite, that is without weight, where a square is beyond all numbers."""
    lengths: Floats = manifold.norm(x, u)
    return np.where(np.isnan(lengths), np.inf, lengths)
