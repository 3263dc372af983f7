"""ATLAS: many rates at once, and weights that tell which of them does best.

Bai, Y., Zhang, Y.-J., Zhao, P., Sugiyama, M., Zhou, Z.-H.: "Adapting to online label shift with
provable guarantees", NeurIPS 2022, section 3.3. N learners take the steps of UOGD with rates
eta_1 2^(i-1); of client and step t

    prediction:  w_t = sum_i q_t,i w_t,i
    learners:    w_{t+1,i} = projection of w_t,i - eta_i grad F_t(w_t,i)
    meta:        q_{t+1,i} in proportion to q_t,i exp(-eps_t F_t(w_t,i)).

Where the paper and the authors' code differ, both forms are there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.alone import Alone, Deployed
from driftfold.algorithms.adaptation.base import Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.adaptation.last_layer import LastLayer, in_ball
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.mixing import mixture
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import DataError
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.inverse import Inverse
from driftfold.rates.base import moved
from driftfold.registry import register
from driftfold.risks.scene import Scene
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node


@node
class Learners(Adapted):
    """What a client keeps.

    Attributes
    ----------
    weights
        Last layers w_i, shape (N, m).
    logs
        Logarithms of q, up to a number for all, shape (N,).
    late
        Losses that q does not know yet, shape (N,), where it learns of them a step late.
    rounds
        How often q has learned.
    p, of_labels
        Estimated shares (K,), and what estimates remember.
    """

    weights: Array
    logs: Array
    late: Array
    rounds: Array
    p: Array
    of_labels: Any


@register("atlas")
@dataclass(frozen=True)
class ATLAS(Alone):
    """N learners of the last linear layer, and one prediction of them all.

    Source examples, weighted by estimated shares, take labels' place. The paper has one round a
    step of the stream; more rounds are more steps, and more losses, with the same shares.

    Attributes
    ----------
    labels
        How shares are estimated; negative ones are then cut off, and not renormalised.
    rates
        "paper": eta_1 = D sigma / (2 G sqrt(K T)), 1 + ceil(log2(1 + 2 T) / 2) of them. "code":
        from D / (G sqrt T) on as long as they are at most D / G, and one more.
    largest
        With rates of the "code", in the place of D / G where that is more.
    meta
        eps_t: "decaying", min(1, 1 / (G D sqrt t)), of the code; "constant", 2 sqrt(ln N / T).
    combine
        Of "parameters", or of "predictions": sum_i q_i softmax(w_i h(x)).
    delayed
        Whether q learns of losses a step late, as in the code: q_{t+1} then knows nothing of t.
    """

    labels: LabelEstimate[Any] = field(default_factory=lambda: Inverse(fix="none"))
    rates: Literal["paper", "code"] = "paper"
    largest: Annotated[float, Gt(0)] | None = None
    meta: Literal["decaying", "constant"] = "decaying"
    combine: Literal["parameters", "predictions"] = "parameters"
    delayed: bool = False

    def check(self, problem: Problem) -> None:
        """Require streams, an estimate that can be had, and rates above 0."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        layer = LastLayer(problem, self.labels)
        layer.check()
        if self.rates == "paper" and layer.sigma < 1e-12:
            raise DataError(
                "the paper's rates of algorithm 'atlas' are proportional to the smallest singular "
                f"value of the confusion matrix, which is {layer.sigma:.1g}: nothing would move; "
                'choose rates = "code", or a better model'
            )

    def phases(self, problem: Problem) -> Sequence[Adapting]:
        """One: predict, weigh the learners, and let each step."""
        assert isinstance(problem, StreamProblem)
        return (Learning(self, problem),)

    def memory(self, problem: Problem) -> Learners:
        """The trained layer for everyone, and equal weights."""
        assert isinstance(problem, StreamProblem)
        layer = LastLayer(problem, self.labels)
        count = len(self.pool(layer))
        return Learners(
            blank(),
            np.repeat(layer.start[None], count, axis=0),
            np.zeros(count),
            np.zeros(count),
            np.zeros((), dtype=np.int64),
            *layer.unknown(),
        )

    def scores(
        self, problem: StreamProblem, state: Deployed, memory: Learners, view: StreamView
    ) -> Array:
        """Logits of the mean layers, or mean probabilities."""
        features = problem.model.forward(problem.source.start, view.inputs).features
        return self.answers(LastLayer(problem, self.labels), memory.weights, memory.logs, features)

    def answers(self, layer: LastLayer, weights: Array, logs: Floats, features: Array) -> Array:
        """Scores (k, n, K) of learners (k, N, m) with log weights (k, N)."""
        q = softmax(logs)
        if self.combine == "parameters":
            return layer.logits(mixture(q, weights).astype(weights.dtype), features)
        each = [softmax(layer.logits(w, features)) for w in np.moveaxis(weights, 1, 0)]
        return mixture(q, np.stack(each, axis=1))

    def pool(self, layer: LastLayer) -> Floats:
        """Rates eta_i, ascending, shape (N,)."""
        d, g, horizon = 2 * layer.radius, layer.steepest, layer.problem.stream.steps
        if self.rates == "paper":
            classes = layer.problem.model.classes
            first = d * layer.sigma / (2 * g * math.sqrt(classes * horizon))
            count = 1 + math.ceil(0.5 * math.log2(1 + 2 * horizon))
            return np.array([first * 2.0**i for i in range(count)])
        rates, last = [d / (g * math.sqrt(horizon))], d / g
        last = last if self.largest is None else min(last, self.largest)
        while rates[-1] <= last:
            rates.append(2 * rates[-1])
        return np.array(rates)

    def temperature(self, layer: LastLayer, count: int, t: Ints) -> Floats:
        """eps_t for t = 1, 2, ..., shape (k,), with `count` learners."""
        if self.meta == "constant":
            return np.full(len(t), 2 * math.sqrt(math.log(count) / layer.problem.stream.steps))
        made: Floats = np.minimum(1.0, 1 / (2 * layer.radius * layer.steepest * np.sqrt(t)))
        return made


@dataclass(frozen=True)
class Learning(OnTheirOwn):
    """Clients predict, weigh their learners by how they would have done, and let each step."""

    algorithm: ATLAS

    @cached_property
    def layer(self) -> LastLayer:
        """The last layer."""
        return LastLayer(self.problem, self.algorithm.labels)

    @cached_property
    def rates(self) -> Floats:
        """eta_i, shape (N,)."""
        return self.algorithm.pool(self.layer)

    def adapt(
        self, download: Nothing, view: StreamView, memory: Learners, steps: int
    ) -> LocalResult[Nothing]:
        """Predict first, then weigh and step."""
        rule, layer, size = self.algorithm, self.layer, self.problem.stream.size
        scene = layer.scene(view)
        before = view.hits(rule.answers(layer, memory.weights, memory.logs, scene.inputs))
        first = memory.ledger.first(view.steps)
        new = layer.shares(scene, memory.of_labels)
        p, of_labels = chosen(first, new, (memory.p, memory.of_labels))
        weights, losses = self._stepped(memory.weights, scene, p)
        logs, late, rounds = self._weighed(memory, losses)
        after = view.hits(rule.answers(layer, weights, logs, scene.inputs))
        rate = mixture(softmax(memory.logs), np.repeat(self.rates[None], len(before), axis=0))
        ledger = memory.ledger.opened(view.steps, before, size, rate).closed(after)
        figures = {
            "step": view.steps,
            "accuracy": before / size,
            "accuracy_after": after / size,
            "rate": rate,
        }
        made = Learners(ledger, weights, logs, late, rounds, p, of_labels)
        return LocalResult(Nothing.of(len(after)), made, figures)

    def samples(self, clients: Ints, version: int) -> Floats:
        """All reference examples, once for each learner."""
        each = len(self.rates) * self.layer.risk.examples(self.problem)
        return np.full(len(clients), float(each))

    def _stepped(self, weights: Array, scene: Scene, p: Floats) -> tuple[Array, Floats]:
        """Learners (k, N, m) after a step each, and their losses before it, (k, N)."""
        stepped, losses = [], []
        for i, rate in enumerate(self.rates):
            slope = self.layer.slope(weights[:, i], scene, p)
            w = moved(weights[:, i], np.full(len(weights), rate), slope.gradient)
            stepped.append(in_ball(w, self.layer.radius))
            losses.append(slope.value)
        return np.stack(stepped, axis=1), np.stack(losses, axis=1)

    def _weighed(self, memory: Learners, losses: Floats) -> tuple[Floats, Floats, Ints]:
        """Log weights, losses that they do not know yet, and how often they have learned."""
        rounds: Ints = memory.rounds + 1
        eps = self.algorithm.temperature(self.layer, len(self.rates), rounds)
        known, late = (memory.late, losses) if self.algorithm.delayed else (losses, memory.late)
        logs = memory.logs - eps[:, None] * known
        return logs - logs.max(axis=-1, keepdims=True), late, rounds
