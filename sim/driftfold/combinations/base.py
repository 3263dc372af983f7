"""Combination: how the server makes one tangent vector of those that clients stand for."""

from abc import ABC, abstractmethod

from driftfold.arrays import Array, Floats
from driftfold.manifolds.base import Manifold
from driftfold.registry import family


@family("combination")
class Combination(ABC):
    """Rule by which many tangent vectors at one point become one."""

    @abstractmethod
    def combine(self, manifold: Manifold, x: Array, weights: Floats, vectors: Array) -> Array:
        """Vector in T_x M from `vectors`, shape (k, *shape), with weights, shape (k,).

        The weights need not sum to 1; for equal vectors v it is sum_i w_i v.
        """
