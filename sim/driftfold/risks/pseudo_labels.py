"""Cross-entropy with the classes that a client's own model names: what takes labels' place."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.inverse import Inverse
from driftfold.nets.base import Mode
from driftfold.nets.losses import cross_entropy
from driftfold.registry import register
from driftfold.risks.base import Risk, Slope, confident, total
from driftfold.risks.scene import Scene
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


class NamedClasses(Risk):
    """Cross-entropy with named classes, each counted by a weight of its own."""

    def slope(
        self,
        theta: Array,
        scene: Scene,
        belief: Any,
        mode: Mode = "eval",
        turn: int = 0,
        only: Bools | None = None,
    ) -> Slope:
        """Gradient of the mean over the batch."""
        made = scene.model.forward(theta, scene.inputs, mode, scene.masks(turn))
        labels = self.labels_of(scene, made.logits)
        losses, slope = cross_entropy(made.logits, labels)
        weights = np.full(losses.shape, 1 / losses.shape[-1])
        if belief.shape[-1]:
            weights *= np.take_along_axis(belief, labels, axis=-1)
        slope *= weights[..., None].astype(slope.dtype)
        return Slope(made.pullback(slope, only=only), made.moved, total(losses, weights))

    def labels_of(self, scene: Scene, logits: Array) -> Any:
        """Classes (k, n) that inputs are taken to have. Default: what the model names."""
        return logits.argmax(axis=-1)

    def examples(self, problem: StreamProblem) -> int:
        """The batch."""
        return problem.stream.size


@register("pseudo_labels")
@dataclass(frozen=True)
class PseudoLabels(NamedClasses):
    """Cross-entropy with the most likely class of each input."""


@register("truth")
@dataclass(frozen=True)
class Truth(NamedClasses):
    """Cross-entropy with the true classes: a control that no deployed system has."""

    def labels_of(self, scene: Scene, logits: Array) -> Any:
        """What only a simulator knows."""
        return scene.truth


@register("bbse_pseudo")
@dataclass(frozen=True)
class BbsePseudo(NamedClasses):
    """Pseudo-labels whose classes count p_k / g_k: estimated share over predicted share.

    g is the histogram of what the model before deployment predicts, on which p was estimated. Ours;
    no paper has it.

    Attributes
    ----------
    labels
        How the present class distribution p is estimated.
    """

    labels: LabelEstimate[Any] = field(default_factory=Inverse)

    def begin(self, problem: StreamProblem) -> Any:
        """The estimate's memory."""
        return self.labels.begin(problem.source.facts())

    def unknown(self, problem: StreamProblem) -> Any:
        """No weights, (K,)."""
        return np.zeros(problem.source.classes)

    def consider(
        self, problem: StreamProblem, theta: Array, view: StreamView, memory: Any
    ) -> tuple[Any, Any]:
        """Weights p_k / g_k, (k, K); 0 for a class that was not predicted."""
        said, facts = confident(problem, view), problem.source.facts()
        p, memory = self.labels.estimate(memory, facts, said)
        g = facts.predicted(said)
        return np.where(g > 0, p / np.where(g > 0, g, 1.0), 0.0), memory
