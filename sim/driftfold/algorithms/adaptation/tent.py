"""TENT: the scales and shifts of batch normalisations follow the entropy of predictions.

Wang, D., Shelhamer, E., Liu, S., Olshausen, B., Darrell, T.: "Tent: fully test-time adaptation by
entropy minimization", ICLR 2021. Statistics are those of the batch, always; a step goes down the
mean entropy of the batch's predictions, in scale and shift alone. A batch is predicted before the
step that it causes. Nobody needs labels.

The paper adapts one model to one stream. Here each client is one (local), or scales and shifts are
averaged after each round (federated); moments of Adam stay with the clients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.base import Adapting
from driftfold.algorithms.adaptation.norm_exchange import (
    NormAdaptation,
    Normed,
    NormExchange,
    Numbers,
)
from driftfold.algorithms.adaptation.own_adam import Moments, adam_step
from driftfold.algorithms.adaptation.splitting import Server
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.nets.losses import entropy
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@register("tent")
@dataclass(frozen=True)
class Tent(NormAdaptation):
    """Entropy steps on scale and shift of every batch normalisation, with the batch's statistics.

    Attributes
    ----------
    federated
        Whether what is adapted is averaged over the clients, or stays with each.
    rate
        Of Adam; 0.001 is what the paper has for small pictures.
    entropy_steps
        Steps on a batch.
    """

    rate: Annotated[float, Gt(0)] = 1e-3
    entropy_steps: Annotated[int, Gt(0)] = 1

    def which(self, problem: StreamProblem) -> Bools:
        """Scales and shifts."""
        layout = problem.model.layout
        return layout.where(problem.model.norms) & ~layout.buffers

    def steps_memory(self, problem: StreamProblem) -> Moments:
        """No moments yet."""
        return Moments.none(problem.source.start[self.which(problem)])

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """One exchange."""
        assert isinstance(problem, StreamProblem)
        return (EntropySteps(self, problem),)

    def scores(
        self, problem: StreamProblem, state: Server, memory: Normed, view: StreamView
    ) -> Array:
        """Logits, by the statistics of the batch."""
        theta = self.present(problem, state, memory, view)
        return problem.model.forward(theta, view.inputs, "batch").logits


@dataclass(frozen=True)
class EntropySteps(NormExchange):
    """Predict, and go down the entropy."""

    algorithm: Tent

    @property
    def steps(self) -> int:
        """Steps on a batch."""
        return self.algorithm.entropy_steps

    def adapt(
        self, download: Numbers, view: StreamView, memory: Normed, steps: int
    ) -> LocalResult[Numbers]:
        """The first step's pass is that of the prediction."""
        rule, model, n = self.algorithm, self.problem.model, self.problem.stream.size
        theta, moments = self.met(download, memory), memory.of_steps
        made = model.forward(theta, view.inputs, "batch")
        hits = view.hits(made.logits)
        rates = np.full(len(hits), rule.rate)
        ledger = memory.ledger.opened(view.steps, hits, n, rates)
        for _ in range(steps):
            _, slope = entropy(made.logits)
            gradient = made.pullback(slope / n, only=self.which)[:, self.which]
            values, moments = adam_step(theta[:, self.which], gradient, moments, rule.rate)
            theta = rule.now(self.problem, values)
            made = model.forward(theta, view.inputs, "batch")
        after = view.hits(made.logits)
        own = theta[:, self.which]
        memory = replace(memory, ledger=ledger.closed(after), values=own, of_steps=moments)
        figures = {
            "step": view.steps,
            "accuracy": hits / n,
            "rate": rates,
            "accuracy_after": after / n,
        }
        return LocalResult(Numbers(self.sent(own)), memory, figures)

    def samples(self, clients: Ints, version: int) -> Floats:
        """The batch at every step."""
        return np.full(len(clients), float(self.steps * self.problem.stream.size))
