"""UOGD: unbiased online gradient descent on the last layer.

Bai, Y., Zhang, Y.-J., Zhao, P., Sugiyama, M., Zhou, Z.-H.: "Adapting to online label shift with
provable guarantees", NeurIPS 2022, section 3.2:

    w_{t+1} = projection of w_t - eta grad F_t(w_t) onto the ball of radius ||w_0||.

With p = M^-1 g before its negative entries are cut off, grad F_t is an unbiased estimate of the
present risk's gradient. Every client has an instance of its own and sends nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.alone import Alone, Deployed
from driftfold.algorithms.adaptation.base import Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.adaptation.last_layer import LastLayer, in_ball
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Floats, Ints
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.inverse import Inverse
from driftfold.rates.base import moved
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node


@node
class Learner(Adapted):
    """What a client keeps: its last layer w, its estimate p, and what estimates remember."""

    weights: Array
    p: Array
    of_labels: Any


@register("uogd")
@dataclass(frozen=True)
class UOGD(Alone):
    """One projected gradient step a round on the weights of the last linear layer, not its bias.

    Source examples, weighted by estimated shares, take labels' place. The paper has one round a
    step of the stream; more rounds are more steps with the same shares.

    Attributes
    ----------
    labels
        How shares are estimated; negative ones are then cut off, and not renormalised.
    rate
        eta; None: D / (G sqrt T), with which the authors' code begins.
    """

    labels: LabelEstimate[Any] = field(default_factory=lambda: Inverse(fix="none"))
    rate: Annotated[float, Gt(0)] | None = None

    def check(self, problem: Problem) -> None:
        """Require streams, and an estimate that can be had."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        LastLayer(problem, self.labels).check()

    def phases(self, problem: Problem) -> Sequence[Adapting]:
        """One: predict, then step."""
        assert isinstance(problem, StreamProblem)
        return (Stepping(self, problem),)

    def memory(self, problem: Problem) -> Learner:
        """The trained layer."""
        assert isinstance(problem, StreamProblem)
        layer = LastLayer(problem, self.labels)
        return Learner(blank(), layer.start, *layer.unknown())

    def scores(
        self, problem: StreamProblem, state: Deployed, memory: Learner, view: StreamView
    ) -> Array:
        """Logits of the clients' last layers."""
        features = problem.model.forward(problem.source.start, view.inputs).features
        return LastLayer(problem, self.labels).logits(memory.weights, features)


@dataclass(frozen=True)
class Stepping(OnTheirOwn):
    """Clients predict, estimate shares where a batch is new, and step."""

    algorithm: UOGD

    @cached_property
    def layer(self) -> LastLayer:
        """The last layer."""
        return LastLayer(self.problem, self.algorithm.labels)

    @cached_property
    def rate(self) -> float:
        """Of all steps, eta."""
        if self.algorithm.rate is not None:
            return self.algorithm.rate
        layer, steps = self.layer, self.problem.stream.steps
        return float(2 * layer.radius / (layer.steepest * np.sqrt(steps)))

    def adapt(
        self, download: Nothing, view: StreamView, memory: Learner, steps: int
    ) -> LocalResult[Nothing]:
        """Predict first, then step."""
        layer, size = self.layer, self.problem.stream.size
        scene = layer.scene(view)
        before = view.hits(layer.logits(memory.weights, scene.inputs))
        first = memory.ledger.first(view.steps)
        new = layer.shares(scene, memory.of_labels)
        p, of_labels = chosen(first, new, (memory.p, memory.of_labels))
        rates = np.full(len(before), self.rate)
        gradient = layer.slope(memory.weights, scene, p).gradient
        weights = in_ball(moved(memory.weights, rates, gradient), layer.radius)
        after = view.hits(layer.logits(weights, scene.inputs))
        ledger = memory.ledger.opened(view.steps, before, size, rates).closed(after)
        figures = {
            "step": view.steps,
            "accuracy": before / size,
            "accuracy_after": after / size,
            "rate": rates,
        }
        made = Learner(ledger, weights, p, of_labels)
        return LocalResult(Nothing.of(len(after)), made, figures)

    def samples(self, clients: Ints, version: int) -> Floats:
        """All reference examples, once."""
        return np.full(len(clients), float(self.layer.risk.examples(self.problem)))
