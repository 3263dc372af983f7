"""Adaptations in which one model is for everybody: no part of it is a client's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from driftfold.algorithms.adaptation.base import Adaptation, Adapted, Adapting
from driftfold.algorithms.adaptation.ledger import blank
from driftfold.algorithms.base import Arrivals
from driftfold.algorithms.summing import Summing
from driftfold.arrays import Array, Floats, Ints
from driftfold.rates.base import moved
from driftfold.risks.base import Risk
from driftfold.risks.labelled import Labelled
from driftfold.risks.scene import Scene
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, rows


@node
class Learning(Adapted):
    """What a client keeps: what its risk believes of the present batch, and what it remembers."""

    belief: Any
    of_risk: Any


@node
class Whole:
    """All parameters theta: what clients send."""

    theta: Array


@dataclass(frozen=True)
class WholeModel(Adaptation):
    """Clients get theta, take steps on it, and send it back; they answer with the server's model.

    Attributes
    ----------
    risk
        What clients minimise.
    steps
        Steps of a client a round.
    """

    risk: Risk = field(default_factory=Labelled)
    steps: Annotated[int, Gt(0)] = 2

    def check(self, problem: Problem) -> None:
        """Require streams, and a risk that can be had."""
        super().check(problem)
        assert isinstance(problem, StreamProblem)
        nobody = np.zeros(1, dtype=np.int64)
        memory = rows(self.risk.begin(problem), None)
        view = problem.view(nobody, nobody)
        self.risk.consider(problem, problem.source.start[None], view, memory)

    def model(self, state: Any) -> Array:
        """The server's model."""
        theta: Array = state.theta
        return theta

    def memory(self, problem: Problem) -> Learning:
        """Nothing known."""
        assert isinstance(problem, StreamProblem)
        return Learning(blank(), self.risk.unknown(problem), self.risk.begin(problem))

    def scores(self, problem: StreamProblem, state: Any, memory: Any, view: StreamView) -> Array:
        """Logits of the server's model."""
        return problem.model.forward(self.model(state), view.inputs).logits


@dataclass(frozen=True)
class Descending(Adapting):
    """A phase in which clients predict with a model that came, and take steps on all of it."""

    algorithm: WholeModel

    @property
    def steps(self) -> int:
        """As configured."""
        return self.algorithm.steps

    def meet(
        self, theta: Array, logits: Array, view: StreamView, memory: Any, rate: Floats
    ) -> tuple[Any, Mapping[str, Array]]:
        """Count who was right before the first step; find what there is to believe of a new batch.

        `logits` are what theta (k, P) says of the batch.
        """
        problem, size = self.problem, self.problem.stream.size
        hits = view.hits(logits)
        known = memory.belief, memory.of_risk
        new = self.algorithm.risk.consider(problem, theta, view, memory.of_risk)
        belief, of_risk = chosen(memory.ledger.first(view.steps), new, known)
        ledger = memory.ledger.opened(view.steps, hits, size, rate)
        memory = replace(memory, ledger=ledger, belief=belief, of_risk=of_risk)
        figures = {"step": view.steps, "accuracy": hits / size, "rate": rate}
        return memory, {**figures, **self.algorithm.risk.told(belief)}

    def descend(
        self, theta: Array, view: StreamView, memory: Any, rate: Floats, steps: int
    ) -> Array:
        """Take `steps` steps of the risk from theta, (k, P)."""
        scene = Scene.of(self.problem, view)
        for turn in range(steps):
            slope = self.algorithm.risk.slope(theta, scene, memory.belief, turn=turn)
            theta = moved(theta, rate, slope.gradient)
        return theta

    def predict(self, theta: Array, view: StreamView) -> Array:
        """Logits of theta (k, P), (k, n, K)."""
        return self.problem.model.forward(theta, view.inputs).logits

    def close(self, theta: Array, view: StreamView, memory: Any) -> tuple[Any, Mapping[str, Array]]:
        """See how each client's own model, as it sends it, classifies the batch."""
        hits = view.hits(self.predict(theta, view))
        memory = replace(memory, ledger=memory.ledger.closed(hits))
        return memory, {"accuracy_after": hits / self.problem.stream.size}

    def samples(self, clients: Ints, version: int) -> Floats:
        """As many examples a step as the risk goes through."""
        each = self.algorithm.risk.examples(self.problem)
        return np.full(len(clients), float(self.steps * each))

    def upload_bytes(self) -> int:
        """The model."""
        return self.problem.model.layout.size * self.problem.itemsize


class Sending(Descending, Summing[Any, Any, Whole]):
    """A phase whose clients send the model, of which the server needs the mean way."""

    payload_kind = Whole

    def summands(self, arrivals: Arrivals[Any, Whole]) -> tuple[Array, Array | None]:
        """Theta_c, and the theta that it was computed from."""
        return arrivals.payload.theta, arrivals.download.theta
