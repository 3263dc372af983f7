"""Cross-entropy on a few labelled inputs of each batch: what a budget of labels buys.

Where the meaning of labels changes, inputs, predictions and features stay as they are: without
labels there is nothing to see.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Bools, Ints
from driftfold.errors import SpecError
from driftfold.nets.base import Mode
from driftfold.nets.losses import cross_entropy
from driftfold.registry import register
from driftfold.risks.base import Risk, Slope, total
from driftfold.risks.scene import Scene
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


def labelled_rows(problem: StreamProblem, clients: Ints, steps: Ints, budget: int) -> Ints:
    """Which inputs of the batches of `clients` at `steps` are labelled, shape (k, budget).

    A draw without replacement, addressed by client and step: each asks for its labels once.
    Raises `SpecError` for a budget above the size of a batch.
    """
    n = problem.stream.size
    if budget > n:
        raise SpecError(
            f"a budget of {budget} labels a step is more than the {n} inputs of a batch; lower "
            "`budget`, or raise the task's `batch`"
        )
    return problem.fleet.seed.stream("labelled inputs").subsets(clients, steps, n, budget)


@register("labelled")
@dataclass(frozen=True)
class Labelled(Risk):
    """Mean cross-entropy over the labelled inputs of the batch, with their true classes.

    Attributes
    ----------
    budget
        Labelled inputs of each client at each step of its stream.
    """

    budget: Annotated[int, Gt(0)] = 5

    def unknown(self, problem: StreamProblem) -> Ints:
        """No rows, (budget,)."""
        return np.zeros(self.budget, dtype=np.int64)

    def consider(
        self, problem: StreamProblem, theta: Array, view: StreamView, memory: Any
    ) -> tuple[Ints, Any]:
        """Which inputs are labelled, (k, budget)."""
        return labelled_rows(problem, view.clients, view.steps, self.budget), memory

    def slope(
        self,
        theta: Array,
        scene: Scene,
        belief: Any,
        mode: Mode = "eval",
        turn: int = 0,
        only: Bools | None = None,
    ) -> Slope:
        """Gradient of the mean over the labelled inputs."""
        places = belief.reshape(*belief.shape, *[1] * (scene.inputs.ndim - 2))
        inputs = np.take_along_axis(scene.inputs, places, axis=1)
        labels = np.take_along_axis(scene.truth, belief, axis=1)
        made = scene.model.forward(theta, inputs, mode, scene.masks(turn))
        losses, slope = cross_entropy(made.logits, labels)
        slope /= self.budget
        return Slope(made.pullback(slope, only=only), made.moved, total(losses, 1 / self.budget))

    def examples(self, problem: StreamProblem) -> int:
        """The labelled ones."""
        return self.budget
