"""Sign flip: the way back."""

from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.attacks.base import Attack
from driftfold.manifolds.base import Manifold
from driftfold.registry import register
from driftfold.rng import Draw


@register("sign_flip")
@dataclass(frozen=True)
class SignFlip(Attack):
    """Minus u: as long as the honest vector, so that no bound on lengths finds it.

    >>> import numpy as np
    >>> from driftfold.manifolds import Euclidean
    >>> SignFlip().corrupt(Euclidean(2), np.zeros(2), np.array([1.0, -2.0]), np.zeros)
    array([-1.,  2.])
    """

    def corrupt(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Array:
        """Return -u."""
        return -u
