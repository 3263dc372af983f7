"""Ticket books on the quadratic of the world's tests; every stack is written down."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driftfold.algorithms.base import Algorithm, LocalResult
from driftfold.compute.base import Compute, Engine, Stack
from driftfold.compute.download import Download
from driftfold.compute.memories import Memories
from driftfold.compute.order import Order
from driftfold.compute.stacked import Stacked
from driftfold.compute.tickets import TicketBook
from driftfold.rng import Seed
from driftfold.tasks.base import Problem
from tests.world.toys import Quadratic, TwoPhase

SURVEY, DRILL = 0, 1


@dataclass
class Watched(Engine):
    """An engine, and the (phase, steps, clients) of each of its stacks."""

    inner: Engine
    stacks: list[tuple[str, int, list[int]]] = field(default_factory=list)

    def run(self, stack: Stack) -> LocalResult[Any]:
        name = type(stack.phase).__name__.lower()
        self.stacks.append((name, stack.steps, stack.clients.tolist()))
        return self.inner.run(stack)


@dataclass
class Desk:
    """A book with what is needed to use it."""

    book: TicketBook
    engine: Watched
    problem: Problem
    algorithm: Algorithm[Any]

    @property
    def download(self) -> Download:
        state = self.algorithm.begin(self.problem, self.problem.initial_point())
        return Download(0, self.algorithm.phases(self.problem)[0].broadcast(state, 0))

    def order(self, phase: int, dispatch: int = 0) -> Order:
        return Order(phase, dispatch, 0, self.download, 0.0, 0.0)


def open_desk(
    algorithm: Algorithm[Any] | None = None, compute: Compute | None = None, clients: int = 8
) -> Desk:
    algorithm = algorithm or TwoPhase()
    problem = Quadratic(clients=clients).build(Seed(4))
    engine = Watched((compute or Stacked()).engine(problem))
    memory = algorithm.memory(problem)
    memories = None if memory is None else Memories(memory)
    return Desk(
        TicketBook(engine, tuple(algorithm.phases(problem)), memories), engine, problem, algorithm
    )


def alone(desk: Desk, phase: int, client: int, dispatch: int, steps: int, memory: Any) -> Any:
    """What the work gives when it is done by hand, for one client."""
    view = desk.problem.view(np.array(client), np.array(dispatch))
    return desk.algorithm.phases(desk.problem)[phase].local(desk.download.tree, view, memory, steps)
