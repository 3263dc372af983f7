"""Fed-ADE's federation with a head for each of several rates, and weights that tell which is best.

The rates of Fed-ADE (arXiv 2603.01040) need bounds, and a signal between them. Here each client has
N heads, with rates from `low` to `high` in equal ratios, weighs them by the risk that they have had
(Freund and Schapire, "A decision-theoretic generalization of on-line learning and an application to
boosting", 1997; for rates ATLAS of Bai et al., NeurIPS 2022), and answers with their mean. On the
batch of a step t, with q the weights and psi the shared part, it

    predicts with  psi and sum_i q_i phi_i
    weighs         q_i in proportion to q_i exp(-eps F_t(psi, phi_i))
    steps          phi_i <- phi_i - eta_i grad F_t(psi, phi_i)
                   psi   <- psi - (sum_i q_i eta_i) grad_psi F_t(psi, sum_i q_i phi_i)

and psi is averaged as in Fed-ADE, or stays with each client. That shared parts move at the mean
rate is ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Nothing
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.mixing import mixture
from driftfold.algorithms.adaptation.splitting import Averaging, Body, Server, Splitting, own_logits
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.errors import SpecError
from driftfold.rates.base import moved
from driftfold.registry import register
from driftfold.risks.base import Risk
from driftfold.risks.bbse_source import BbseSource
from driftfold.risks.scene import Scene
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, rows


@node
class Heads(Adapted):
    """What a client keeps.

    Attributes
    ----------
    shared
        Its own psi where psi is not averaged, else empty.
    heads
        The heads phi_i, shape (N, m).
    logs
        Logarithms of q, up to a number for all, shape (N,).
    belief, of_risk
        What the risk believes of the present batch, and what it remembers.
    """

    shared: Array
    heads: Array
    logs: Array
    belief: Any
    of_risk: Any


@register("hedge")
@dataclass(frozen=True)
class Hedge(Adaptation):
    """N rates at once: bounds may be wide, at the cost of N heads.

    The risk takes labels' place. Shared is the body of the net, personal its head.

    Attributes
    ----------
    risk
        What clients minimise.
    low, high
        Smallest and largest rate.
    rates
        N.
    shared_steps, personal_steps
        Steps on everything, and on the heads after psi was averaged, a round.
    range
        How far losses may lie apart, in eps = sqrt(8 ln N / T) / range; None: ln K.
    federated
        Whether psi is averaged. If not, each client keeps its own psi, takes the same steps as in
        the federation, and nothing is sent.

    Examples
    --------
    >>> Hedge(low=0.1, high=0.9, rates=3).pool.round(3).tolist()
    [0.1, 0.3, 0.9]
    """

    risk: Risk = field(default_factory=BbseSource)
    low: Annotated[float, Gt(0)] = 0.03
    high: Annotated[float, Gt(0)] = 1.0
    rates: Annotated[int, Ge(1)] = 5
    shared_steps: Annotated[int, Ge(0)] = 2
    personal_steps: Annotated[int, Ge(0)] = 2
    range: Annotated[float, Gt(0)] | None = None
    federated: bool = True

    @property
    def pool(self) -> Floats:
        """Rates eta_i, ascending, shape (N,)."""
        return np.geomspace(self.low, self.high, self.rates)

    def check(self, problem: Problem) -> None:
        """Require streams, bounds in their order, and a risk that can be had."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        if self.low > self.high:
            raise SpecError(
                f"algorithm 'hedge' has rates between low and high, got low = {self.low} above "
                f"high = {self.high}; exchange them"
            )
        nobody = np.zeros(1, dtype=np.int64)
        memory = rows(self.risk.begin(problem), None)
        start = problem.source.start[None]
        self.risk.consider(problem, start, problem.view(nobody, nobody), memory)

    def phases(self, problem: Problem) -> "Sequence[Exchange]":
        """Everything first, then the heads."""
        assert isinstance(problem, StreamProblem)
        return (Everything(self, problem), Personal(self, problem))

    def begin(self, problem: Problem, x: Array) -> Server:
        """Start from the trained model."""
        return Server(x)

    def model(self, state: Server) -> Array:
        """The shared part as it is now, with the head as it was trained."""
        return state.theta

    def memory(self, problem: Problem) -> Heads:
        """The trained head for every rate, and equal weights."""
        assert isinstance(problem, StreamProblem)
        start, own = problem.source.start, self.own(problem)
        head = start[own]
        return Heads(
            blank(),
            start[:0] if self.federated else start[~own],
            np.repeat(head[None], self.rates, axis=0),
            np.zeros(self.rates),
            self.risk.unknown(problem),
            self.risk.begin(problem),
        )

    def own(self, problem: StreamProblem) -> Bools:
        """Which parameters are the head's, shape (P,)."""
        return problem.model.layout.where(problem.model.head)

    def scores(
        self, problem: StreamProblem, state: Server, memory: Heads, view: StreamView
    ) -> Array:
        """Logits of the server's shared part, or the clients' own, and the clients' mean heads."""
        own, head = self.own(problem), mixture(softmax(memory.logs), memory.heads)
        return own_logits(problem, state.theta, own, head, view, memory.shared)


@dataclass(frozen=True)
class Exchange(Splitting):
    """What the two exchanges share."""

    algorithm: Hedge

    @cached_property
    def pool(self) -> Floats:
        """eta_i, shape (N,)."""
        return self.algorithm.pool

    def mean(self, shared: Array, memory: Heads) -> Array:
        """Theta = (psi, sum_i q_i phi_i), shape (k, P)."""
        head = mixture(softmax(memory.logs), memory.heads)
        return self.joined(shared, head.astype(memory.heads.dtype))

    def stepped(self, memory: Heads, scene: Scene, turn: int) -> Heads:
        """Let each head take a step of its own rate, on features (`scene` is beyond the body)."""
        made = []
        for i, rate in enumerate(self.pool):
            phi = memory.heads[:, i]
            slope = self.algorithm.risk.slope(phi, scene, memory.belief, turn=turn)
            made.append(moved(phi, np.full(len(phi), rate), slope.gradient))
        return replace(memory, heads=np.stack(made, axis=1))

    def examples(self) -> int:
        """Examples that one gradient goes through."""
        return self.algorithm.risk.examples(self.problem)


@dataclass(frozen=True)
class Everything(Averaging, Exchange):
    """First exchange: predict, weigh the heads, and steps on everything."""

    @property
    def steps(self) -> int:
        """Steps on everything, or one turn without a step."""
        return max(1, self.algorithm.shared_steps)

    def adapt(
        self, download: Body, view: StreamView, memory: Heads, steps: int
    ) -> LocalResult[Body]:
        """Meet the batch if it is new, and descend."""
        rule, scene = self.algorithm, Scene.of(self.problem, view)
        shared = self.body(download, memory)
        memory, rate, figures = self._meet(shared, scene, view, memory)
        for turn in range(min(steps, rule.shared_steps)):
            theta = self.mean(shared, memory)
            slope = rule.risk.slope(theta, scene, memory.belief, turn=turn, only=~self.own)
            memory = self.stepped(memory, scene.beyond_body(theta), turn)
            shared = moved(theta, rate, slope.gradient)[:, ~self.own]
        shared = np.broadcast_to(shared, (len(rate), shared.shape[-1])).copy()
        payload, memory = self.exchanged(shared, memory)
        return LocalResult(payload, memory, figures)

    def _meet(
        self, shared: Array, scene: Scene, view: StreamView, memory: Heads
    ) -> tuple[Heads, Floats, Mapping[str, Floats]]:
        """Predict; on a new batch find the belief, and what each head's risk is."""
        rule, problem, size = self.algorithm, self.problem, self.problem.stream.size
        theta = self.mean(shared, memory)
        hits = view.hits(problem.model.forward(theta, view.inputs).logits)
        belief, of_risk = rule.risk.consider(problem, theta, view, memory.of_risk)
        beyond, nothing = scene.beyond_body(theta), np.zeros(memory.heads.shape[-1], dtype=bool)
        losses = [
            rule.risk.slope(phi, beyond, belief, only=nothing).value
            for phi in np.moveaxis(memory.heads, 1, 0)
        ]
        logs = memory.logs - self._eps * np.stack(losses, axis=1)
        new = belief, of_risk, logs - logs.max(axis=-1, keepdims=True)
        known = memory.belief, memory.of_risk, memory.logs
        belief, of_risk, logs = chosen(memory.ledger.first(view.steps), new, known)
        rate = mixture(softmax(logs), np.repeat(self.pool[None], len(hits), axis=0))
        ledger = memory.ledger.opened(view.steps, hits, size, rate)
        figures = {"step": view.steps, "accuracy": hits / size, "rate": rate}
        figures |= rule.risk.told(belief)
        known_now = replace(memory, ledger=ledger, logs=logs, belief=belief, of_risk=of_risk)
        return known_now, rate, figures

    @cached_property
    def _eps(self) -> float:
        steps, classes = self.problem.stream.steps, self.problem.model.classes
        span = np.log(classes) if self.algorithm.range is None else self.algorithm.range
        return float(np.sqrt(8 * np.log(len(self.pool)) / steps) / span)

    def samples(self, clients: Ints, version: int) -> Floats:
        """A gradient for psi and one for each head, every step."""
        gradients = self.algorithm.shared_steps * (1 + len(self.pool))
        return np.full(len(clients), float(gradients * self.examples()))


@dataclass(frozen=True)
class Personal(Exchange):
    """Second exchange: the mean psi comes down, and steps of the heads alone."""

    payload_kind = Nothing

    @property
    def steps(self) -> int:
        """Steps of the heads, or one turn without a step."""
        return max(1, self.algorithm.personal_steps)

    def adapt(
        self, download: Body, view: StreamView, memory: Heads, steps: int
    ) -> LocalResult[Nothing]:
        """Descend with the shared part as it came, and see how the batch is classified now."""
        rule, shared = self.algorithm, self.body(download, memory)
        beyond = Scene.of(self.problem, view).beyond_body(self.mean(shared, memory))
        first = rule.shared_steps
        for turn in range(first, first + min(steps, rule.personal_steps)):
            memory = self.stepped(memory, beyond, turn)
        theta = self.mean(shared, memory)
        hits = view.hits(self.problem.model.forward(theta, view.inputs).logits)
        memory = replace(memory, ledger=memory.ledger.closed(hits))
        after = {"accuracy_after": hits / self.problem.stream.size}
        return LocalResult(Nothing.of(len(hits)), memory, after)

    def step(
        self, state: Server, arrivals: Arrivals[Body, Nothing], weights: Floats
    ) -> tuple[Server, Mapping[str, float]]:
        """The shared part stays."""
        return state, {}

    def upload_bytes(self) -> int:
        """Nothing."""
        return 0

    def samples(self, clients: Ints, version: int) -> Floats:
        """A gradient for each head, every step."""
        gradients = self.algorithm.personal_steps * len(self.pool)
        return np.full(len(clients), float(gradients * self.examples()))
