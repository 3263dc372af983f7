"""Small problems with streams, for tests of adaptations."""

from dataclasses import fields
from typing import Any

import numpy as np

from driftfold.algorithms.adaptation import Adaptation
from driftfold.algorithms.base import Arrivals, LocalResult
from driftfold.arrays import Array, Ints
from driftfold.drift import LabelMixture
from driftfold.nets import Mlp
from driftfold.rng import Seed
from driftfold.tasks import DriftingClassification
from driftfold.tasks.streams import Pretraining, Stream, StreamProblem
from driftfold.trees import spread


def small(seed: int = 3, **changes: Any) -> StreamProblem:
    """Digits, two hidden layers, float64 so that tolerances may be tight."""
    usual: dict[str, Any] = {
        "clients": 4,
        "batch": 20,
        "steps": 6,
        "reference": 3,
        "drift": (LabelMixture(),),
        "net": Mlp((12, 8)),
        "pretraining": Pretraining(epochs=8, rate=1e-2),
        "precision": "float64",
        "keep_trained": False,
    }
    return DriftingClassification(**(usual | changes)).build(Seed(seed))


class Still(Stream):
    """One batch for everybody, at every step."""

    def rows(self, clients: Ints, steps: Ints) -> Ints:
        """Those of client 0 at step 0."""
        none = np.zeros(1, dtype=np.int64)
        return np.repeat(super().rows(none, none), len(clients), axis=0)


def standing(problem: StreamProblem) -> StreamProblem:
    """The same problem, in which everybody always meets one batch."""
    stream = problem.stream
    still = Still(**{f.name: getattr(stream, f.name) for f in fields(stream)})
    return StreamProblem(problem.source, still, problem.fleet, problem.period)


class Rounds:
    """Rounds of everybody, phase by phase, without a clock."""

    def __init__(self, algorithm: Adaptation, problem: StreamProblem) -> None:
        algorithm.check(problem)
        self.algorithm, self.problem = algorithm, problem
        self.phases = algorithm.phases(problem)
        self.everyone = np.arange(problem.fleet.size)
        self.state: Any = algorithm.begin(problem, problem.initial_point())
        self.memory: Any = spread(algorithm.memory(problem), len(self.everyone))
        self.rounds = 0

    def work(self, phase: int, step: int, clients: Ints | None = None) -> LocalResult[Any]:
        """Local work of everybody on the batches of a step; memories move on."""
        who = self.everyone if clients is None else clients
        times = np.full(len(who), step * self.problem.period)
        view = self.problem.view(who, np.full(len(who), self.rounds), times)
        down = spread(self.phases[phase].broadcast(self.state, self.rounds), len(who))
        result = self.phases[phase].local(down, view, self.memory, self.phases[phase].steps)
        self.memory = result.memory
        return result

    def take(self, phase: int, payload: Any, weights: Array | None = None) -> None:
        """The server's step on what everybody sent."""
        k = len(self.everyone)
        down = spread(self.phases[phase].broadcast(self.state, self.rounds), k)
        none = np.zeros(k, dtype=np.int64)
        arrivals = Arrivals(self.everyone, payload, down, none, none > 0)
        each = np.full(k, 1 / k) if weights is None else weights
        self.state, _ = self.phases[phase].step(self.state, arrivals, each)

    def round(self, step: int) -> list[LocalResult[Any]]:
        """One round of all phases on the batches of a step."""
        results = []
        for phase in range(len(self.phases)):
            results.append(self.work(phase, step))
            self.take(phase, results[-1].payload)
        self.rounds += 1
        return results
