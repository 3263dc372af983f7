"""One exchange a round: x_t and a step size down, K local steps, one point or vector up."""

from dataclasses import dataclass
from typing import Annotated, TypeVar

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.base import Algorithm, Phase
from driftfold.algorithms.step_size import Step, step_at
from driftfold.arrays import Array, Floats, Ints
from driftfold.tasks.base import BatchSize, Problem
from driftfold.trees import node

P = TypeVar("P")


@node
class Broadcast:
    """Download: the server's point x_t and the round's step size alpha_t."""

    point: Array
    step_size: Array

    @classmethod
    def of(cls, point: Array, step_size: float) -> "Broadcast":
        """Download of `point`, with the step size as an array so that it can be stacked."""
        return cls(point, np.array(step_size, dtype=point.dtype))


@node
class ServerPoint:
    """Server state of the algorithms that keep nothing but the iterate x_t."""

    point: Array


@dataclass(frozen=True)
class LocalSteps(Algorithm[ServerPoint]):
    """What the algorithms share whose server keeps the iterate and whose clients take K steps.

    Attributes
    ----------
    steps
        Local steps K.
    batch
        Mini-batch size B: a number, a fraction of the client's samples, or "full".
    step_size
        Local step size alpha, a number or a rule.
    """

    steps: Annotated[int, Gt(0)] = 5
    batch: BatchSize = "full"
    step_size: Step = 0.01

    def begin(self, problem: Problem, x: Array) -> ServerPoint:
        """Start at x."""
        return ServerPoint(x)

    def model(self, state: ServerPoint) -> Array:
        """Return x_t."""
        return state.point


@dataclass(frozen=True)
class LocalWork(Phase[ServerPoint, Broadcast, P]):
    """The exchange of a `LocalSteps` algorithm: what is left to say is `local` and `step`."""

    algorithm: LocalSteps
    problem: Problem

    @property
    def steps(self) -> int:
        """Local steps K."""
        return self.algorithm.steps

    @property
    def batch(self) -> BatchSize:
        """Mini-batch size B."""
        return self.algorithm.batch

    def broadcast(self, state: ServerPoint, version: int) -> Broadcast:
        """Send x_t and alpha_t."""
        return Broadcast.of(state.point, step_at(self.algorithm.step_size, version))

    def samples(self, clients: Ints) -> Floats:
        """K mini-batches."""
        return self.steps * self.problem.batch_samples(self.batch, clients)

    def download_bytes(self) -> int:
        """One point and one number."""
        return self.problem.point_bytes + self.problem.itemsize

    def upload_bytes(self) -> int:
        """One point or tangent vector."""
        return self.problem.point_bytes
