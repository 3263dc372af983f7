"""Whether the model is still on its manifold."""

from collections.abc import Mapping
from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.metric import Metric


@register("off_manifold")
@dataclass(frozen=True)
class OffManifold(Metric):
    """How far rounding has carried the model off its manifold.

    >>> from driftfold.data.gaussian_blocks import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.pca import Pca
    >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
    >>> OffManifold().measure(problem, 2 * problem.initial_point(), 0.0)["off_manifold"] > 1
    True
    """

    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Ask the manifold."""
        return {"off_manifold": float(problem.manifold.off_point(x))}
