"""Metrics beyond the task's own, asked for by name in a specification."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from driftfold.arrays import Array
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.registry import family
from driftfold.tasks.base import Problem


@family("metric")
class Metric(ABC):
    """Something to measure at every evaluation. It cannot change the run."""

    @abstractmethod
    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Named figures of the model x at virtual time `time`, under names of their own."""


class WeightMetric(Metric):
    """A metric of the weights that contributions get, not of the model."""

    def measure(self, problem: Problem, x: Array, time: float) -> Mapping[str, float]:
        """Nothing: the model does not tell."""
        return {}

    @abstractmethod
    def measure_weights(
        self, rule: Estimator[Any], state: Any, fleet: Fleet, attendance: Attendance, round: int
    ) -> Mapping[str, float]:
        """Named figures of the weights that `rule` would give in `round`, the next one to come."""
