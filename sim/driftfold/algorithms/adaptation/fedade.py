"""Fed-ADE: federated adaptation whose rates follow how much each client's data move.

"Fed-ADE: adaptive learning rates for federated post-adaptation under distribution shift", CVPR
2026 (arXiv 2603.01040). All clients start from one trained model theta = (psi, phi): psi, the
feature extractor, is shared; phi, the head, is each client's own. At each step t of its stream a
client finds out how the batch's classes are distributed (its risk F_c^t), and how far the model's
answers and features have moved since the step before (S_c^t), which sets its rate:

    eta_c^t = eta_min + (eta_max - eta_min) S_c^t.

A round has two exchanges:

    client:  E1 steps  theta <- theta - eta grad F(theta);  sends psi_c
    server:  psi = sum_c w_c psi_c
    client:  psi_c <- psi;  E2 steps  phi <- phi - eta grad_phi F(psi, phi)

Every part can be changed by itself: the risk, the rate (a fixed one is the paper's FixLR), what is
personal, and whether psi is averaged: without, clients take the same steps on the same parts alone,
which is the control for a federation. The server's step is written as psi + sum w_c (psi_c - psi),
which for weights of sum 1 is the mean, and with weights 1 / (p_c N) is unbiased where clients stay
away.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Nothing
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.adaptation.splitting import Averaging, Body, Server, Splitting, own_logits
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.rates.adaptive import Adaptive
from driftfold.rates.base import Meeting, Rate, moved
from driftfold.registry import register
from driftfold.risks.base import Risk
from driftfold.risks.bbse_source import BbseSource
from driftfold.risks.scene import Scene
from driftfold.signals.base import Observed
from driftfold.softmax import softmax
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, rows


@node
class Own(Adapted):
    """What a client keeps: phi, its rate of the present step, and what risk and rate remember.

    `shared` is its own psi where psi is not averaged, else empty.
    """

    shared: Array
    personal: Array
    rate: Array
    belief: Any
    of_risk: Any
    of_rate: Any


@register("fedade")
@dataclass(frozen=True)
class FedADE(Adaptation):
    """Steps on everything, the shared parts averaged, then steps on the personal parts.

    Attributes
    ----------
    risk
        What clients minimise.
    rate
        How large their steps are.
    shared_steps, personal_steps
        E1 and E2; with E1 = 0 clients send nothing.
    personal
        Names of the personal parameters, or beginnings of them; None: the net's head.
    federated
        Whether psi is averaged. If not, each client keeps its own psi, takes the same E1 and E2
        steps as in the federation, and nothing is sent.
    """

    risk: Risk = field(default_factory=BbseSource)
    rate: Rate = field(default_factory=Adaptive)
    shared_steps: Annotated[int, Ge(0)] = 2
    personal_steps: Annotated[int, Ge(0)] = 2
    personal: tuple[str, ...] | None = None
    federated: bool = True

    def check(self, problem: Problem) -> None:
        """Require streams, personal parameters that are there, and a risk that can be had."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        self.own(problem)
        nobody = np.zeros(1, dtype=np.int64)
        memory = rows(self.risk.begin(problem), None)
        self.risk.consider(
            problem, problem.source.start[None], problem.view(nobody, nobody), memory
        )

    def phases(self, problem: Problem) -> "Sequence[Exchange]":
        """Everything first, then the personal parts."""
        assert isinstance(problem, StreamProblem)
        return (Everything(self, problem), Personal(self, problem))

    def begin(self, problem: Problem, x: Array) -> Server:
        """Start from the trained model."""
        return Server(x)

    def model(self, state: Server) -> Array:
        """The shared part as it is now, with the head as it was trained."""
        return state.theta

    def memory(self, problem: Problem) -> Own:
        """Return what a client has before its first step: the trained head, or all of the model."""
        assert isinstance(problem, StreamProblem)
        start, own = problem.source.start, self.own(problem)
        return Own(
            blank(),
            start[:0] if self.federated else start[~own],
            start[own],
            np.zeros(()),
            self.risk.unknown(problem),
            self.risk.begin(problem),
            self.rate.begin(problem),
        )

    def own(self, problem: StreamProblem) -> Bools:
        """Which parameters are personal, shape (P,)."""
        return problem.model.layout.where(self.personal or problem.model.head)

    def scores(self, problem: StreamProblem, state: Server, memory: Own, view: StreamView) -> Array:
        """Logits of the server's shared part, or the clients' own, and the clients' own heads."""
        own = self.own(problem)
        return own_logits(problem, state.theta, own, memory.personal, view, memory.shared)


@dataclass(frozen=True)
class Exchange(Splitting):
    """What the two exchanges share."""

    algorithm: FedADE

    def descend(
        self, theta: Array, scene: Scene, memory: Own, turns: range, only: Bools | None
    ) -> tuple[Array, Own]:
        """Take a step of the client's rate in each of some turns."""
        rule = self.algorithm
        of_rate = memory.of_rate
        for turn in turns:
            slope = rule.risk.slope(theta, scene, memory.belief, turn=turn, only=only)
            g = slope.gradient if only is None else np.where(only, slope.gradient, 0)
            eta, of_rate = rule.rate.size(self.problem, memory.rate, of_rate, theta, g)
            theta = moved(theta, eta, g)
        return theta, replace(memory, of_rate=of_rate)

    @property
    @abstractmethod
    def descents(self) -> int:
        """Steps along a gradient: E1 or E2."""

    @property
    def steps(self) -> int:
        """As many, or one turn without a step."""
        return max(1, self.descents)

    def samples(self, clients: Ints, version: int) -> Floats:
        """As many examples a step as the risk goes through."""
        each = self.algorithm.risk.examples(self.problem)
        return np.full(len(clients), float(self.descents * each))


@dataclass(frozen=True)
class Everything(Averaging, Exchange):
    """First exchange: what has moved, how large the steps are, and E1 steps on everything."""

    @property
    def descents(self) -> int:
        """E1."""
        return self.algorithm.shared_steps

    @property
    def moves(self) -> bool:
        """Where there are steps, in a federation."""
        return self.descents > 0 and self.federated

    def adapt(self, download: Body, view: StreamView, memory: Own, steps: int) -> LocalResult[Body]:
        """Meet the batch if it is new, and descend."""
        theta = self.joined(self.body(download, memory), memory.personal)
        memory, figures = self._meet(theta, view, memory)
        scene = Scene.of(self.problem, view)
        turns = range(min(steps, self.descents))
        theta, memory = self.descend(theta, scene, memory, turns, None)
        shared, personal = self.split(theta)
        sent, memory = self.exchanged(shared, replace(memory, personal=personal))
        sent = sent if self.descents else Body(np.empty((len(theta), 0), theta.dtype))
        return LocalResult(sent, memory, figures)

    def _meet(
        self, theta: Array, view: StreamView, memory: Own
    ) -> tuple[Own, Mapping[str, Floats]]:
        """Predict; on a new batch find belief and rate.

        The belief stays for the step's other rounds, and so does the rate, if it is not met anew.
        """
        rule, problem, size = self.algorithm, self.problem, self.problem.stream.size
        made = problem.model.forward(theta, view.inputs)
        hits = view.hits(made.logits)
        first, gap = memory.ledger.first(view.steps), memory.ledger.gap(view.steps)
        measured = first
        if rule.rate.every_round:  # later ones find the model before the same batch again
            measured, gap = np.ones_like(first), np.where(first, gap, 1)
        progress = view.steps / max(1, problem.stream.steps - 1)

        def look(inputs: Array) -> Observed:
            said = made if inputs is view.inputs else problem.model.forward(theta, inputs)
            return Observed(softmax(said.logits), said.features, gap, progress)

        meeting = Meeting(view.clients, view.steps, view.inputs, look(view.inputs), look)
        rate, of_rate = rule.rate.meet(problem, memory.of_rate, meeting)
        belief, of_risk = rule.risk.consider(problem, theta, view, memory.of_risk)
        belief, of_risk = chosen(first, (belief, of_risk), (memory.belief, memory.of_risk))
        rate, of_rate = chosen(measured, (rate, of_rate), (memory.rate, memory.of_rate))
        memory = replace(
            memory,
            ledger=memory.ledger.opened(view.steps, hits, size, rate),
            rate=rate,
            belief=belief,
            of_risk=of_risk,
            of_rate=of_rate,
        )
        return memory, {
            "step": view.steps,
            "accuracy": hits / size,
            "rate": rate,
            **rule.rate.told(of_rate),
            **rule.risk.told(belief),
        }


@dataclass(frozen=True)
class Personal(Exchange):
    """Second exchange: the mean comes down, and E2 steps on the personal parts."""

    payload_kind = Nothing

    @property
    def descents(self) -> int:
        """E2."""
        return self.algorithm.personal_steps

    def adapt(
        self, download: Body, view: StreamView, memory: Own, steps: int
    ) -> LocalResult[Nothing]:
        """Descend with the shared part as it came, and see how the batch is classified now."""
        rule, scene = self.algorithm, Scene.of(self.problem, view)
        turns = range(rule.shared_steps, rule.shared_steps + min(steps, self.descents))
        shared = self.body(download, memory)
        if rule.personal is None and not rule.rate.steers:
            # Phi is the head: the body is gone through once, and once for all where it is common.
            common = slice(1 if shared.strides[0] == 0 else None)
            theta = self.joined(shared[common], memory.personal[common])
            scene = scene.beyond_body(theta[0] if len(theta) == 1 else theta)
            phi, memory = self.descend(memory.personal, scene, memory, turns, None)
            logits = scene.model.forward(phi, scene.inputs).logits
        else:
            theta = self.joined(shared, memory.personal)
            if self.own.any():
                theta, memory = self.descend(theta, scene, memory, turns, self.own)
            phi = self.split(theta)[1]
            logits = self.problem.model.forward(theta, view.inputs).logits
        hits = view.hits(logits)
        memory = replace(memory, personal=phi, ledger=memory.ledger.closed(hits))
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
