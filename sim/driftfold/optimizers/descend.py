"""The plain server: along the combined vector."""

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Gt

from driftfold.arrays import Array
from driftfold.manifolds.base import Manifold
from driftfold.optimizers.base import ServerOptimizer
from driftfold.registry import register


@register("descend")
@dataclass(frozen=True)
class Descend(ServerOptimizer):
    """The vector itself, times the server's step size.

    Attributes
    ----------
    size
        Server step size; 1 goes to the mean.
    """

    size: Annotated[float, Gt(0)] = 1.0

    def direct(self, manifold: Manifold, x: Array, v: Array, moments: Any) -> tuple[Array, Any]:
        """Scale v."""
        return (v if self.size == 1 else self.size * v), moments
