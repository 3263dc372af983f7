"""Adaptation: algorithms that keep a deployed classifier right while its clients' data drift.

They see inputs and no labels. At each step of its stream a client first predicts, then adapts:
accuracy "before" is that of the predictions, and what counts in practice; "after" is measured on
the same batch once more and flatters whoever adapts most.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from driftfold.algorithms.adaptation.ledger import Ledger, blank
from driftfold.algorithms.base import Algorithm, Arrivals, LocalResult, Phase
from driftfold.arrays import Array, Floats, Ints
from driftfold.errors import CapabilityError
from driftfold.registry import kind_of
from driftfold.tasks.base import Problem, View
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, rows, spread

WORST = 0.1
"""Share of the clients that count as the worst off."""


@node
class Adapted:
    """What every adapting client keeps; algorithms add to it."""

    ledger: Ledger


@node
class Nothing:
    """Download or payload without content."""

    nothing: Array

    @classmethod
    def of(cls, *lead: int) -> "Nothing":
        """Return nothing for each of some clients."""
        return cls(np.empty((*lead, 0)))


class Adaptation(Algorithm[Any]):
    """An algorithm for streams without labels."""

    def check(self, problem: Problem) -> None:
        """Require streams."""
        if not isinstance(problem, StreamProblem):
            raise CapabilityError(
                f"algorithm '{kind_of(self)}' adapts a trained classifier to streams without "
                "labels, and this task has none; choose task 'drifting_classification'"
            )

    def memory(self, problem: Problem) -> Any:
        """Return the ledger of a client that was never there."""
        return Adapted(blank())

    @abstractmethod
    def phases(self, problem: Problem) -> "Sequence[Adapting]":
        """Return the phases of one round."""

    @abstractmethod
    def scores(self, problem: StreamProblem, state: Any, memory: Any, view: StreamView) -> Array:
        """What clients with these memories answer to their present inputs, (k, n, K).

        The largest is the class that they would name.
        """

    def evaluate(
        self, problem: Problem, state: Any, memories: Any, time: float
    ) -> Mapping[str, float]:
        """Accuracy of everybody on the present batches, and of the visitors so far.

        accuracy_everyone
            All N clients on their batches at `time`, each with what it has: those that never took
            part have the server's model, if it is one for all, and their own parts as deployed.
        accuracy_adapted, adapted
            The same over those clients alone that have taken part so far, and their share of all.
        accuracy_visits, accuracy_after
            Over all batches that clients took part with, before they adapted to them; and after,
            over those of rounds that they were part of to the end.
        worst_decile
            Mean accuracy (before) of the tenth of the visitors that is worst off.
        rate
            Mean rate over visits, each round of a step counted.
        gradients
            Examples whose gradients a client computes in one round.
        """
        assert isinstance(problem, StreamProblem)
        ids, visited = memories
        fresh = spread(self.memory(problem), 1)
        place = np.full(problem.fleet.size, -1)
        place[ids] = np.arange(len(ids))
        right = of_adapted = 0
        for clients in problem.tiles():
            view, at = problem.view(clients, np.zeros_like(clients), time), place[clients]
            hits = view.hits(self.scores(problem, state, _kept(fresh, visited, at), view))
            right += int(hits.sum())
            of_adapted += int(hits[at >= 0].sum())
        size = problem.stream.size
        everyone = {"accuracy_everyone": right / (problem.fleet.size * size)}
        if len(ids):
            everyone["accuracy_adapted"] = of_adapted / (len(ids) * size)
        everyone["adapted"] = len(ids) / problem.fleet.size
        one = np.zeros(1, dtype=np.int64)
        gradients = sum(float(phase.samples(one, 0)[0]) for phase in self.phases(problem))
        told = _told(visited.ledger)
        return {**everyone, **told} | ({"gradients": gradients} if told else {})


def _kept(fresh: Any, visited: Any, at: Ints) -> Any:
    """Memories of some clients: rows `at` of those that were there, fresh ones where it is -1."""
    if (at < 0).all():
        return rows(fresh, np.zeros(len(at), dtype=np.int64))
    kept = rows(visited, np.maximum(at, 0))
    return kept if (at >= 0).all() else chosen(at >= 0, kept, fresh)


def _told(ledger: Ledger) -> Mapping[str, float]:
    """Figures of the clients that were there."""
    seen = ledger.seen > 0
    if not seen.any():
        return {}
    each = np.sort(ledger.before[seen] / ledger.seen[seen])
    worst = each[: max(1, round(WORST * len(each)))]
    total = float(ledger.seen.sum())
    return {
        "accuracy_visits": float(ledger.before.sum()) / total,
        **_afterwards(ledger),
        "worst_decile": float(worst.mean()),
        "rate": float(ledger.rates.sum()) / float(ledger.rounds.sum()),
    }


def _afterwards(ledger: Ledger) -> Mapping[str, float]:
    """Accuracy after adapting, over the batches for which it was measured."""
    closings = int(ledger.closings.sum())
    if not closings:
        return {}
    batch = float(ledger.seen.sum()) / float(ledger.visits.sum())
    return {"accuracy_after": float(ledger.after.sum()) / (closings * batch)}


@dataclass(frozen=True)
class Adapting(Phase[Any, Any, Any]):
    """A phase of an adaptation: stacks only, since a single client is a stack of one."""

    algorithm: Any
    problem: StreamProblem

    @final
    def local(self, download: Any, view: View, memory: Any, steps: int) -> LocalResult[Any]:
        """What `adapt` does, for one client as well as for a stack."""
        assert isinstance(view, StreamView)
        if view.clients.ndim:
            return self.adapt(download, view, memory, steps)
        one = self.adapt(rows(download, None), view.alone(), rows(memory, None), steps)
        return LocalResult(
            rows(one.payload, 0), rows(one.memory, 0), {k: v[0] for k, v in one.metrics.items()}
        )

    @abstractmethod
    def adapt(self, download: Any, view: StreamView, memory: Any, steps: int) -> LocalResult[Any]:
        """Local work of a stack of clients, all leaves with a leading axis (k,)."""


@dataclass(frozen=True)
class OnTheirOwn(Adapting):
    """A phase in which clients adapt and send nothing."""

    payload_kind = Nothing

    @property
    def steps(self) -> int:
        """One."""
        return 1

    def broadcast(self, state: Any, version: int) -> Any:
        """Send nothing."""
        return Nothing.of()

    def step(
        self, state: Any, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[Any, Mapping[str, float]]:
        """Nothing to learn from nothing."""
        return state, {}

    def samples(self, clients: Ints, version: int) -> Floats:
        """No gradients."""
        return np.zeros(len(clients))

    def download_bytes(self) -> int:
        """Nothing."""
        return 0

    def upload_bytes(self) -> int:
        """Nothing."""
        return 0
