"""A stand-in for the "UDA" that the Fed-ADE paper's covariate tables name and nowhere define.

What is likely meant is domain-adversarial training: Ganin, Y., Lempitsky, V.: "Unsupervised domain
adaptation by backpropagation", ICML 2015. A domain classifier learns to tell features of source
examples from features of the present batch, and the body learns to keep them alike:

    theta goes down  CE(source) - lambda D(theta, w),    w goes down  D(theta, w),

with D the mean log loss of sigmoid(w h + b), sources and batch counting one half each, and
lambda = 2 / (1 + exp(-10 t / T)) - 1. Everything else is ours: one linear domain classifier a
client, which begins at 0; bodies averaged after each round, heads and domain classifiers each
client's own. Results under this name say nothing about the paper's figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.splitting import Averaging, Body, Server, own_logits
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.lanes import in_whole_vectors
from driftfold.nets.losses import cross_entropy
from driftfold.rates.base import moved
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import node


@node
class Opposed(Adapted):
    """What a client keeps: its head, and w and b of its domain classifier, shape (d + 1,)."""

    personal: Array
    critic: Array


@register("uda_stand_in")
@dataclass(frozen=True)
class UdaStandIn(Adaptation):
    """Source examples are learnt on, with features that do not tell them from the present batch.

    Attributes
    ----------
    rate
        Of all steps; 0.01 as in the paper at its beginning.
    local_steps
        Steps on a batch.
    steepness
        Of lambda over the stream.
    personal
        Names of the personal parameters, or beginnings of them; None: the net's head.
    """

    rate: Annotated[float, Gt(0)] = 0.01
    local_steps: Annotated[int, Gt(0)] = 2
    steepness: Annotated[float, Gt(0)] = 10.0
    personal: tuple[str, ...] | None = None

    def check(self, problem: Problem) -> None:
        """Require streams, and personal parameters that are there."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        self.own(problem)

    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """One exchange."""
        assert isinstance(problem, StreamProblem)
        return (Opposing(self, problem),)

    def begin(self, problem: Problem, x: Array) -> Server:
        """Start from the trained model."""
        return Server(x)

    def model(self, state: Server) -> Array:
        """The shared body with the head as it was trained."""
        return state.theta

    def memory(self, problem: Problem) -> Opposed:
        """Return the trained head, and a domain classifier that can tell nothing."""
        assert isinstance(problem, StreamProblem)
        model = problem.model
        critic = np.zeros(model.features + 1, model.dtype)
        return Opposed(blank(), problem.source.start[self.own(problem)], critic)

    def own(self, problem: StreamProblem) -> Bools:
        """Which parameters are personal, shape (P,)."""
        return problem.model.layout.where(self.personal or problem.model.head)

    def scores(
        self, problem: StreamProblem, state: Server, memory: Opposed, view: StreamView
    ) -> Array:
        """Logits of the shared body and the clients' own heads."""
        return own_logits(problem, state.theta, self.own(problem), memory.personal, view)


@dataclass(frozen=True)
class Opposing(Averaging):
    """One step of all clients."""

    algorithm: UdaStandIn

    @property
    def steps(self) -> int:
        """Steps on a batch."""
        return self.algorithm.local_steps

    def adapt(
        self, download: Body, view: StreamView, memory: Opposed, steps: int
    ) -> LocalResult[Body]:
        """Predict, and step."""
        model, n = self.problem.model, self.problem.stream.size
        theta, critic = self.joined(download.shared, memory.personal), memory.critic
        hits = view.hits(model.forward(theta, view.inputs).logits)
        rates = np.full(len(hits), self.algorithm.rate)
        against = self._against(view.steps)
        ledger = memory.ledger.opened(view.steps, hits, n, rates)
        for _ in range(steps):
            of_theta, of_critic = self.slopes(theta, critic, view.inputs, against)
            theta, critic = moved(theta, rates, of_theta), moved(critic, rates, of_critic)
        after = view.hits(model.forward(theta, view.inputs).logits)
        memory = replace(
            memory, ledger=ledger.closed(after), personal=theta[:, self.own], critic=critic
        )
        told = {"accuracy": hits / n, "accuracy_after": after / n, "rate": rates}
        figures = {"step": view.steps, **told, "lambda": against}
        return LocalResult(Body(theta[:, ~self.own]), memory, figures)

    def slopes(
        self, theta: Array, critic: Array, inputs: Array, against: Floats
    ) -> tuple[Array, Array]:
        """Directions that theta (k, P) and domain classifiers (k, d + 1) step against."""
        model, source = self.problem.model, self.problem.source
        m, n = len(source.reference_labels), inputs.shape[1]
        there, here = model.forward(theta, source.reference), model.forward(theta, inputs)
        labels = np.broadcast_to(source.reference_labels, there.logits.shape[:-1])
        _, slope = cross_entropy(there.logits, labels)
        is_here = [_sigmoid(_scored(critic, made.features)) for made in (there, here)]
        of_scores = [0.5 * is_here[0] / m, 0.5 * (is_here[1] - 1) / n]
        kind = model.dtype.type
        back = -against.astype(kind)[:, None, None] * critic[:, None, :-1]
        of_theta = there.pullback(slope / kind(m), of_scores[0][..., None] * back)
        of_theta = of_theta + here.pullback(None, of_scores[1][..., None] * back)
        of_critic = [
            np.concatenate(
                [np.matmul(s[:, None], made.features)[:, 0], s.sum(axis=1, keepdims=True)], axis=1
            )
            for s, made in zip(of_scores, (there, here), strict=True)
        ]
        return of_theta, of_critic[0] + of_critic[1]

    def _against(self, steps: Ints) -> Floats:
        """Lambda of each client, (k,)."""
        p = steps / self.problem.stream.steps
        made: Floats = 2 / (1 + in_whole_vectors(np.exp, -self.algorithm.steepness * p)) - 1
        return made

    def samples(self, clients: Ints, version: int) -> Floats:
        """The examples and the batch, in every step."""
        each = len(self.problem.source.reference_labels) + self.problem.stream.size
        return np.full(len(clients), float(self.steps * each))


def _scored(critic: Array, features: Array) -> Array:
    """Scores w h + b, shape (k, n)."""
    scored: Array = np.matmul(features, critic[:, :-1, None])[..., 0] + critic[:, -1:]
    return scored


def _sigmoid(scores: Array) -> Array:
    return 1 / (1 + in_whole_vectors(np.exp, -np.clip(scores, -80, 80)))
