"""Metrics beyond the task's own, asked for by name in a specification."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from driftfold.arrays import Array
from driftfold.registry import family
from driftfold.tasks.base import Problem


@family("metric")
class Metric(ABC):
    """Something to measure at every evaluation. It cannot change the run."""

    @abstractmethod
    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Named figures of the model x at virtual time `time`, under names of their own."""
