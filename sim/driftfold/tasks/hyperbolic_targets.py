"""What tasks share whose targets are points of hyperbolic space."""

from abc import ABC

import numpy as np

from driftfold.arrays import Array, Floats
from driftfold.errors import SpecError
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.lorentz import Lorentz
from driftfold.tasks.frechet import FrechetProblem
from driftfold.tasks.hyperbolic_newton import nearest_minimum


class HyperbolicFrechetProblem(FrechetProblem, ABC):
    """f_i(x) = scale * (1/n_i) sum_j c_ij dist(x, y_ij)^2 over hyperbolic space."""

    manifold: Lorentz
    kernel_loss = "lorentz distance"

    def minimise(self) -> Array:
        """Newton's method from the initial point."""
        factors = self.fleet.importance[:, None] * self.weights * self.coefficients
        real = self.weights > 0
        targets = self.targets[real].astype(np.float64)
        start: Floats = self.initial_point().astype(np.float64)
        return nearest_minimum(self.manifold, targets, factors[real], start)


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
