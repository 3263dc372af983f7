"""Server optimisers: how far and which way the server goes, given the combined vector."""

from abc import ABC, abstractmethod
from typing import Any

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.registry import family


@family("server_optimizer")
class ServerOptimizer(ABC):
    """Rule that turns the round's vector v in T_{x_t} M into the step that the server takes.

    What it remembers, its moments, is a tree of tangent vectors at the present iterate and of
    plain numbers; the server carries it along with every step.
    """

    def begin(self, manifold: Manifold, x: Array) -> Any:
        """Moments at the first iterate; None where nothing is remembered."""
        return None

    @abstractmethod
    def direct(self, manifold: Manifold, x: Array, v: Array, moments: Any) -> tuple[Array, Any]:
        """Step to take in T_x M, and the new moments, still at x."""

    def carry(self, manifold: Manifold, x: Array, y: Array, moments: Any) -> Any:
        """Moments at y, where the step from x has led."""
        return moments
