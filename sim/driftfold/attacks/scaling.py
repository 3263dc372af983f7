"""Scaling: the same way, many times as far."""

from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.attacks.base import Attack
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Draw


@register("scaling")
@dataclass(frozen=True)
class Scaling(Attack):
    """Factor times u; a negative factor flips the sign, too.

    Attributes
    ----------
    factor
        How many times as long.

    >>> import numpy as np
    >>> from driftfold.manifolds import Euclidean
    >>> Scaling(factor=10.0).corrupt(Euclidean(2), np.zeros(2), np.array([1.0, -2.0]), np.zeros)
    array([ 10., -20.])
    """

    factor: float = 10.0

    def corrupt(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Array:
        """Return factor * u."""
        return self.factor * u
