"""The parts of one simulated world, put together and passed as one value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Algorithm, Phase
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.latency.base import Delays
from driftfold.participation.base import Attendance
from driftfold.tasks.base import Problem
from driftfold.tasks.metric import Metric
from driftfold.world.policy import FaultPolicy, Horizon


@dataclass(frozen=True)
class World:
    """What the server and its clients live in.

    Attributes
    ----------
    problem, algorithm, phases
        What is minimised, how, and the algorithm's phases bound to the problem.
    attendance, delays
        When clients are there and how long things take.
    estimator, weighing
        The rule that weights contributions, and its state before the first round.
    faults, horizon
        What to do with failures, and when to end.
    evaluate_every, metrics
        Server steps between evaluations, and what they measure beyond the task's own metrics.
    """

    problem: Problem
    algorithm: Algorithm[Any]
    phases: Sequence[Phase[Any, Any, Any]]
    attendance: Attendance
    delays: Delays
    estimator: Estimator[Any]
    weighing: Any
    faults: FaultPolicy
    horizon: Horizon
    evaluate_every: int = 10
    metrics: Sequence[Metric] = ()

    @property
    def fleet(self) -> Fleet:
        """The clients."""
        return self.problem.fleet
