"""A task, an algorithm and a cadence of the tests' own, that use everything the world offers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftfold.algorithms.base import Algorithm, Arrivals, Endpoint, LocalResult, Phase, Tangent
from driftfold.arrays import Array, Floats, Ints, along
from driftfold.combinations.aggregation import weighted_sum
from driftfold.compute.results import Results
from driftfold.fleet import Fleet
from driftfold.kernel import now, sleep
from driftfold.manifolds.euclidean import Euclidean
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.selection import UniformSelection
from driftfold.tasks.base import Batch, Problem, Task, View
from driftfold.tasks.batch_size import Batching, BatchSize
from driftfold.trees import node
from driftfold.world.cadence import Cadence
from driftfold.world.server import Server


class QuadraticView(View):
    """Noisy gradients of f_i(x) = |x - c_i|^2 / 2."""

    def __init__(self, problem: "QuadraticProblem", clients: Ints, dispatches: Ints) -> None:
        self.clients, self.dispatches = clients, dispatches
        self.seed = problem.fleet.seed
        self._centres = problem.centres[clients]
        self._noise = problem.noise
        self._d = problem.centres.shape[1]

    def batches(self, size: Batching, steps: int, versions: Array | None = None) -> Sequence[Batch]:
        shape = np.shape(self.clients)
        draws = self.stream("batch").normal(
            np.atleast_1d(self.clients), np.atleast_1d(self.dispatches), steps * self._d
        )
        noise = self._noise * draws.reshape(*shape, steps, self._d)
        return [Batch(None, noise[..., k, :]) for k in range(steps)]

    def everything(self) -> Batch:
        return Batch(None, np.zeros((*np.shape(self.clients), self._d)))

    def gradient(self, x: Array, batch: Batch) -> Array:
        return x - self._centres + batch.weights

    def loss(self, x: Array, batch: Batch) -> Array:
        return ((x - self._centres) ** 2).sum(-1) / 2


class QuadraticProblem(Problem):
    def __init__(self, centres: Floats, noise: float, seed: Seed) -> None:
        n, d = centres.shape
        self.centres, self.noise = centres, noise
        self.manifold = Euclidean(d)
        self.fleet = Fleet(seed, np.full(n, 10), np.full(n, 1 / n))

    @property
    def client_bytes(self) -> int:
        return 8 * int(self.centres.shape[1])

    def initial_point(self) -> Array:
        return np.zeros(self.centres.shape[1])

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> View:
        return QuadraticView(self, clients, dispatches)

    def batch_samples(self, size: BatchSize, clients: Ints) -> Floats:
        return np.ones(len(clients))

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        return {"gap": float(((x - self.centres.mean(0)) ** 2).sum() / 2)}


@register("test-quadratic")
@dataclass(frozen=True)
class Quadratic(Task):
    clients: int = 12
    dimension: int = 3
    noise: float = 0.1

    def build(self, seed: Seed) -> Problem:
        ids = np.arange(self.clients)
        centres = seed.stream("centres").normal(ids, 0, self.dimension)
        return QuadraticProblem(centres, self.noise, seed)


@node
class Consensus:
    """Server state: the model and the mean gradient of the last first phase."""

    point: Array
    gradient: Array


@node
class Habit:
    """A client's memory: its momentum, and how often it was here."""

    momentum: Array
    visits: Array


@register("test-two-phase")
@dataclass(frozen=True)
class TwoPhase(Algorithm[Consensus]):
    """Gradients up, their mean down, then momentum steps with the client's own memory."""

    steps: int = 4
    alpha: float = 0.05
    dropout: Any = "commit"

    def phases(self, problem: Problem) -> Sequence[Phase[Consensus, Any, Any]]:
        return (Survey(self, problem), Drill(self, problem))

    def begin(self, problem: Problem, x: Array) -> Consensus:
        return Consensus(x, np.zeros_like(x))

    def model(self, state: Consensus) -> Array:
        return state.point

    def memory(self, problem: Problem) -> Habit:
        return Habit(np.zeros(problem.manifold.shape), np.array(0))

    def evaluate(
        self, problem: Problem, state: Consensus, memories: Any, time: float
    ) -> Mapping[str, float]:
        clients, habit = memories
        return {"visited": float(len(clients)), "visits": float(habit.visits.sum())}


@dataclass(frozen=True)
class Survey(Phase[Consensus, Consensus, Tangent]):
    algorithm: TwoPhase
    problem: Problem

    payload_kind = Tangent
    steps = 1

    def broadcast(self, state: Consensus, version: int) -> Consensus:
        return state

    def local(
        self, download: Consensus, view: View, memory: Habit, steps: int
    ) -> LocalResult[Tangent]:
        g = view.gradient(download.point, view.everything())
        return LocalResult(Tangent(g), memory)

    def step(
        self, state: Consensus, arrivals: Arrivals[Consensus, Tangent], weights: Floats
    ) -> tuple[Consensus, Mapping[str, float]]:
        mean = weighted_sum(weights, arrivals.payload.vector)
        return Consensus(state.point, mean), {"survey": float(np.linalg.norm(mean))}

    def samples(self, clients: Ints, version: int) -> Floats:
        return np.full(len(clients), 10.0)

    def download_bytes(self) -> int:
        return 2 * self.problem.point_bytes

    def upload_bytes(self) -> int:
        return self.problem.point_bytes


@dataclass(frozen=True)
class Drill(Phase[Consensus, Consensus, Endpoint]):
    algorithm: TwoPhase
    problem: Problem

    payload_kind = Endpoint
    missed = "carry"

    @property
    def steps(self) -> int:
        return self.algorithm.steps

    def broadcast(self, state: Consensus, version: int) -> Consensus:
        return state

    def local(
        self, download: Consensus, view: View, memory: Habit, steps: int
    ) -> LocalResult[Endpoint]:
        x, m = download.point, memory.momentum
        for batch in view.batches("full", steps):
            m = 0.5 * m + view.gradient(x, batch) + 0.1 * download.gradient
            x = x - self.algorithm.alpha * m
        visits = memory.visits + 1
        moved = np.sqrt(((x - download.point) ** 2).sum(-1))
        return LocalResult(Endpoint(x), Habit(m, visits), {"moved": moved, "visits": visits})

    def step(
        self, state: Consensus, arrivals: Arrivals[Consensus, Endpoint], weights: Floats
    ) -> tuple[Consensus, Mapping[str, float]]:
        moved = arrivals.payload.point - arrivals.download.point
        v = weighted_sum(along(weights, moved)[:, 0], moved)
        return Consensus(state.point + v, state.gradient), {"step_norm": math.sqrt(float(v @ v))}

    def samples(self, clients: Ints, version: int) -> Floats:
        return np.full(len(clients), 10.0 * self.steps)

    def download_bytes(self) -> int:
        return 2 * self.problem.point_bytes

    def upload_bytes(self) -> int:
        return self.problem.point_bytes


@register("test-buffered")
@dataclass(frozen=True)
class Buffered(Cadence):
    """Keep `concurrency` clients busy; step a phase as soon as `buffer` of its payloads are in."""

    concurrency: int = 6
    buffer: int = 3
    decides: bool = False

    def chooses(self) -> str | None:
        return "whoever is quick fills the buffer"

    async def advance(self, server: Server) -> None:
        version = server.version
        last = len(server.world.phases) - 1
        while server.version == version:
            self._top_up(server)
            if not server.in_flight:
                await server.somebody()
                continue
            wanted = dict.fromkeys(range(last + 1), self.buffer)
            phase = await server.inbox.fill(wanted, now() + 500.0, patient=False)
            if phase is None:
                continue
            arrivals = server.inbox.take(phase, self.buffer)
            server.step(phase, arrivals)
            if self.decides and phase == last:
                tickets = [t for t in server.tickets.live.values() if t.order.phase == last][:2]
                await sleep(await server.decide("pause", _spread, tickets))
            if phase < last:
                for dispatch in sorted({a.dispatch for a in arrivals}):
                    own = [a.client for a in arrivals if a.dispatch == dispatch]
                    server.send(phase + 1, np.array(sorted(own)), dispatch)

    def _top_up(self, server: Server) -> None:
        pool = server.pool()
        pool = pool[[not self._waits(server, c) for c in pool.tolist()]]
        room = min(self.concurrency - len(server.in_flight), len(pool))
        if room <= 0:
            return
        chosen = server.choose(UniformSelection(), room, pool)
        willing, dispatch = server.invite(chosen)
        carrying = server.carrying(willing, 1)
        fresh = np.setdiff1d(willing, carrying)
        if len(fresh):
            server.send(0, fresh, dispatch)
        if len(carrying):
            server.send(1, carrying, dispatch)

    @staticmethod
    def _waits(server: Server, client: int) -> bool:
        return any(a.client == client for phase in server.inbox.peek() for a in phase)


def _spread(results: Results) -> float:
    """How far apart the first two models are: a value that decides how long to wait."""
    if len(results.good) < 2:
        return 0.5
    first, second = results.payload.point[:2]
    return float(np.abs(first - second).max())
