"""Server momentum: the rounds' vectors add up along the way (FedAvgM).

Hsu, T.-M. H., Qi, H., Brown, M.: "Measuring the effects of non-identical data distribution for
federated visual classification", 2019: heavy-ball momentum on the update of a round. On a manifold
the velocity is a tangent vector, and the vector transport takes it along with every step.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.optimizers.base import ServerOptimizer
from driftfold.registry import register


@register("momentum")
@dataclass(frozen=True)
class Momentum(ServerOptimizer):
    """m <- beta m + v, and a step of `size` along m; then m goes to where the step led.

    Attributes
    ----------
    beta
        Share of the velocity that is kept; 0 is "descend". A steady v moves the server by
        size / (1 - beta) of it each round.
    size
        Server step size.

    >>> from driftfold.manifolds import Euclidean
    >>> line, rule, x = Euclidean(1), Momentum(beta=0.5), np.array([0.0])
    >>> m = rule.begin(line, x)
    >>> step, m = rule.direct(line, x, np.array([1.0]), m)
    >>> rule.direct(line, x, np.array([1.0]), m)[0]
    array([1.5])
    """

    beta: Annotated[float, Ge(0), Lt(1)] = 0.9
    size: Annotated[float, Gt(0)] = 1.0

    def begin(self, manifold: Manifold, x: Array) -> Array:
        """Return m = 0."""
        return np.zeros_like(x)

    def direct(self, manifold: Manifold, x: Array, v: Array, moments: Array) -> tuple[Array, Array]:
        """Step size * m, m = beta m + v."""
        m = self.beta * moments + v
        return self.size * m, m

    def carry(self, manifold: Manifold, x: Array, y: Array, moments: Array) -> Array:
        """Transport m from x to y."""
        return manifold.transport(x, y, moments)
