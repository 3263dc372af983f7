"""The deployed model as it is: what any adaptation has to beat."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftfold.algorithms.adaptation.alone import Alone, Deployed
from driftfold.algorithms.adaptation.base import Adapted, Adapting, Nothing, OnTheirOwn
from driftfold.algorithms.base import LocalResult
from driftfold.arrays import Array
from driftfold.registry import register
from driftfold.tasks.base import Problem
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@register("frozen")
@dataclass(frozen=True)
class Frozen(Alone):
    """theta_0 at every step: no update, no gradient, nothing sent.

    It needs nothing in the place of labels, and what it gets right before and after are the same.

    Examples
    --------
    >>> Frozen()
    Frozen()
    """

    def phases(self, problem: Problem) -> Sequence[Adapting]:
        """One, in which clients predict."""
        assert isinstance(problem, StreamProblem)
        return (Predicting(self, problem),)

    def scores(
        self, problem: StreamProblem, state: Deployed, memory: Adapted, view: StreamView
    ) -> Array:
        """Logits of theta_0."""
        return problem.model.forward(problem.source.start, view.inputs).logits


@dataclass(frozen=True)
class Predicting(OnTheirOwn):
    """Clients answer to their batches, and leave it at that."""

    algorithm: Frozen

    def adapt(
        self, download: Nothing, view: StreamView, memory: Adapted, steps: int
    ) -> LocalResult[Nothing]:
        """Count how many are right."""
        problem, size = self.problem, self.problem.stream.size
        hits = view.hits(problem.model.forward(problem.source.start, view.inputs).logits)
        none = np.zeros(len(hits))
        ledger = memory.ledger.opened(view.steps, hits, size, none).closed(hits)
        figures = {"step": view.steps, "accuracy": hits / size, "accuracy_after": hits / size}
        return LocalResult(Nothing.of(len(hits)), replace(memory, ledger=ledger), figures)
