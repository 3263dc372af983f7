"""Metrics beyond the task's own, asked for by name in a specification."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from driftfold.arrays import Array
from driftfold.registry import family, register
from driftfold.tasks.base import Problem


@family("metric")
class Metric(ABC):
    """Something to measure at every evaluation. It cannot change the run."""

    @abstractmethod
    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Named figures of the model x at virtual time `time`, under names of their own."""


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
