"""What tasks share whose targets are points of hyperbolic space."""

from abc import ABC
from collections.abc import Iterator

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.lorentz import Lorentz
from driftfold.tasks.frechet import FrechetProblem
from driftfold.tasks.hyperbolic_newton import TILE, minimum_of_tiles


class HyperbolicFrechetProblem(FrechetProblem, ABC):
    """f_i(x) = scale * (1/n_i) sum_j c_ij dist(x, y_ij)^2 over hyperbolic space."""

    manifold: Lorentz
    kernel_loss = "lorentz distance"

    def minimise(self) -> Array:
        """Newton's method from the initial point."""
        start: Floats = self.initial_point().astype(np.float64)
        return minimum_of_tiles(self.manifold, self._tiles, start)

    def _tiles(self) -> Iterator[tuple[Floats, Floats]]:
        """Targets of some clients at a time, and their weights in F up to its scale."""
        count = max(1, TILE // self.longest)
        for first in range(0, self.fleet.size, count):
            some = slice(first, first + count)
            weights = self.weights[some]
            real = weights > 0
            factors = self.fleet.importance[some, None] * weights * self.coefficients[some]
            yield self.targets[some][real].astype(np.float64, copy=False), factors[real]


def lorentz(manifold: Manifold | None, dimension: int) -> Lorentz:
    """Return the manifold of points of some dimension, the given one if it is that.

    >>> lorentz(None, 3)
    Lorentz(dim=3, transport_by='parallel')
    """
    chosen = Lorentz(dimension) if manifold is None else manifold
    if not isinstance(chosen, Lorentz) or chosen.shape != (dimension,):
        raise SpecError(
            f"the data are points of hyperbolic space of dimension {dimension}, which are points "
            f"of 'lorentz' with dim = {dimension}; got {chosen!r}; leave the manifold out or "
            "change it"
        )
    return chosen
