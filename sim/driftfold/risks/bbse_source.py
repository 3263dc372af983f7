"""The risk of Fed-ADE: source examples weighted by an estimate of the present classes.

Fed-ADE (arXiv 2603.01040). With p the estimate of a client's present class distribution,

    F(theta) = sum_k p_k F_0^k(theta),    F_0^k the mean cross-entropy of the source's class k.

A client's batch enters through p alone: under covariate shift the risk says nothing new.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.confusion import confusion_matrix
from driftfold.label_shift.inverse import Inverse
from driftfold.nets.base import Mode
from driftfold.nets.losses import cross_entropy
from driftfold.registry import register
from driftfold.risks.base import Risk, Slope, confident, total
from driftfold.risks.scene import Scene
from driftfold.softmax import softmax
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@register("bbse_source")
@dataclass(frozen=True)
class BbseSource(Risk):
    """Cross-entropy of the source examples, classes weighted as they are estimated to be now.

    Attributes
    ----------
    labels
        How the present class distribution is estimated.
    soft
        Whether predictions count with their probabilities, in M as in what is held against it.
    model
        Whose predictions: of the model before deployment ("start"), on which M was measured once;
        or of the client's own ("current"), whose M is measured anew at each step.
    """

    labels: LabelEstimate[Any] = field(default_factory=Inverse)
    soft: bool = False
    model: Literal["start", "current"] = "start"

    def begin(self, problem: StreamProblem) -> Any:
        """The estimate's memory."""
        return self.labels.begin(problem.source.facts(self.soft))

    def unknown(self, problem: StreamProblem) -> Any:
        """No distribution, (K,)."""
        return np.zeros(problem.source.classes)

    def consider(
        self, problem: StreamProblem, theta: Array, view: StreamView, memory: Any
    ) -> tuple[Any, Any]:
        """Estimate p, (k, K)."""
        facts = problem.source.facts(self.soft)
        if self.model == "start":
            return self.labels.estimate(memory, facts, confident(problem, view))
        source, model = problem.source, problem.model
        held = softmax(model.forward(theta, source.held_out).logits.astype(np.float64))
        own = np.stack([confusion_matrix(p, source.held_out_labels, self.soft) for p in held])
        said = softmax(model.forward(theta, view.inputs).logits.astype(np.float64))
        return self.labels.estimate(memory, facts.seen_by(own), said)

    def slope(
        self,
        theta: Array,
        scene: Scene,
        belief: Any,
        mode: Mode = "eval",
        turn: int = 0,
        only: Bools | None = None,
    ) -> Slope:
        """sum_k p_k grad F_0^k(theta)."""
        made = scene.model.forward(theta, scene.reference, mode, scene.masks(turn))
        labels = np.broadcast_to(scene.reference_labels, made.logits.shape[:-1])
        losses, slope = cross_entropy(made.logits, labels)
        weights = belief[:, scene.reference_labels] / scene.each
        slope *= weights[..., None].astype(slope.dtype)
        return Slope(made.pullback(slope, only=only), made.moved, total(losses, weights))

    def examples(self, problem: StreamProblem) -> int:
        """All reference examples."""
        return len(problem.source.reference_labels)
