"""Risks: what a client minimises when nobody tells it the classes of its inputs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftfold.arrays import Array, Bools, Floats
from driftfold.nets.base import Mode
from driftfold.registry import family
from driftfold.risks.scene import Scene
from driftfold.softmax import softmax
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@dataclass(frozen=True, eq=False)
class Slope:
    """The gradient of a risk, and what else one pass tells of it.

    Attributes
    ----------
    gradient
        Shape (k, P).
    moved
        The parameters with the statistics that the pass moved; in mode "train" alone it moves any.
    value
        The risk itself, shape (k,), float64.
    """

    gradient: Array
    moved: Array
    value: Floats


@family("risk")
class Risk(ABC):
    """A function of a client's parameters that stands in for its loss.

    What is found out about a batch before any step is its *belief*: a tree of arrays, such as an
    estimate of the batch's class distribution, which stays the same over the local steps and rounds
    on that batch. A *memory* is what carries over from step to step of the stream.
    """

    def begin(self, problem: StreamProblem) -> Any:
        """Memory of a client before its first batch. Default: none."""
        return None

    def unknown(self, problem: StreamProblem) -> Any:
        """Belief of a client before its first batch, whose shapes every belief has."""
        return np.zeros(0)

    def consider(
        self, problem: StreamProblem, theta: Array, view: StreamView, memory: Any
    ) -> tuple[Any, Any]:
        """Return belief and memory of k clients with parameters theta (k, P). Default: nothing."""
        return np.zeros((len(view.clients), 0)), memory

    def told(self, belief: Any) -> Mapping[str, Floats]:
        """Named figures (k,) of what is believed, for the records. Default: none."""
        return {}

    @abstractmethod
    def slope(
        self,
        theta: Array,
        scene: Scene,
        belief: Any,
        mode: Mode = "eval",
        turn: int = 0,
        only: Bools | None = None,
    ) -> Slope:
        """Gradient of the risk at theta (k, P).

        `turn` numbers the passes of a visit, for dropout; where `only` (P,) is False the gradient
        is not wanted.
        """

    @abstractmethod
    def examples(self, problem: StreamProblem) -> int:
        """How many examples one gradient goes through, at most."""


def total(losses: Array, weights: Floats | float) -> Floats:
    """Sum of losses (k, n) by weights that broadcast with them, shape (k,), float64."""
    weighed = np.ascontiguousarray(losses.astype(np.float64) * weights)
    made: Floats = weighed.sum(axis=-1)
    return made


def confident(problem: StreamProblem, view: StreamView) -> Floats:
    """Probabilities that the model before deployment gives, (k, n, K), float64."""
    logits = problem.model.forward(problem.source.start, view.inputs).logits
    said: Floats = softmax(logits.astype(np.float64))
    return said
