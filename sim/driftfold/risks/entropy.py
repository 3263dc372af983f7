"""Entropy of a client's own predictions: the risk that the released scripts of Fed-ADE minimise.

Wang, D., Shelhamer, E., Liu, S., et al.: "Tent: fully test-time adaptation by entropy
minimization", ICLR 2021.
"""

from dataclasses import dataclass
from typing import Any

from driftfold.arrays import Array, Bools
from driftfold.nets.base import Mode
from driftfold.nets.losses import entropy
from driftfold.registry import register
from driftfold.risks.base import Risk, Slope, total
from driftfold.risks.scene import Scene
from driftfold.tasks.streams.problem import StreamProblem


@register("entropy")
@dataclass(frozen=True)
class Entropy(Risk):
    """Mean over the batch of -sum_k p_k log(p_k + 1e-10)."""

    def slope(
        self,
        theta: Array,
        scene: Scene,
        belief: Any,
        mode: Mode = "eval",
        turn: int = 0,
        only: Bools | None = None,
    ) -> Slope:
        """Gradient of the mean entropy."""
        made = scene.model.forward(theta, scene.inputs, mode, scene.masks(turn))
        values, slope = entropy(made.logits)
        n = slope.shape[-2]
        slope /= n
        return Slope(made.pullback(slope, only=only), made.moved, total(values, 1 / n))

    def examples(self, problem: StreamProblem) -> int:
        """The batch."""
        return problem.stream.size
