"""Whether the model is near a stationary point."""

from collections.abc import Mapping
from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.metric import Metric


@register("gradient_norm")
@dataclass(frozen=True)
class GradientNorm(Metric):
    """Length of the Riemannian gradient of F = sum_i a_i f_i, over all samples of all clients.

    >>> from driftfold.data.gaussian_blocks import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.pca import Pca
    >>> problem = Pca(data=GaussianBlocks(3, 5, 4), rank=2).build(Seed(1))
    >>> sorted(GradientNorm().measure(problem, problem.initial_point(), 0.0))
    ['gradient_norm']
    """

    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Ask the problem."""
        return {"gradient_norm": float(problem.manifold.norm(x, problem.gradient(x)))}
