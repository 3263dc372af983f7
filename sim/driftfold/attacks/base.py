"""Attacks: what a client that means harm sends in place of its vector."""

from abc import ABC, abstractmethod

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.registry import family
from driftfold.rng import Draw


@family("attack")
class Attack(ABC):
    """Rule that turns an honest vector u in T_x M into what an attacker sends."""

    def check(self, space: Manifold) -> None:
        """Raise `CapabilityError` where vectors of this space cannot be attacked."""
        return

    @abstractmethod
    def corrupt(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Array:
        """Vector in T_x M in place of u; `draw` gives standard normal numbers, (..., count)."""
