"""Clients that behave, and misbehave, exactly as a test says; and a closed form to compare with.

Everything here works on `test-quadratic` (f_i(x) = |x - c_i|^2 / 2), where K full gradient steps of
size a from x end at c_i + (1 - a)^K (x - c_i).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from driftfold.algorithms.base import Algorithm, Arrivals, Endpoint, LocalResult, Phase
from driftfold.algorithms.fedavg import FedAvg, LocalSGD
from driftfold.algorithms.local_steps import Broadcast, ServerPoint
from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.assembly import build
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.latency.base import Delays, Latency
from driftfold.optimizers.descend import Descend
from driftfold.participation.base import Attendance, Participation
from driftfold.registry import register
from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.base import Problem, View
from driftfold.telemetry.base import Record
from driftfold.telemetry.memory import Memory
from tests.world import toys

assert toys  # importing it registers its kinds

ALPHA, STEPS, CLIENTS = 0.25, 3, 6
TABLE: dict[str, Any] = {
    "task": {"kind": "test-quadratic", "clients": CLIENTS, "noise": 0.0},
    "algorithm": {"kind": "test-scripted"},
    "horizon": {"rounds": 3},
    "evaluate_every": 1,
}


def told(table: Mapping[str, Any], **changes: Any) -> tuple[Result, list[Record]]:
    """Run `table` with some of its parts changed; return the result and all records."""
    sink = Memory()
    return run(from_mapping({**table, **changes}), sinks=[sink]), sink.records


def rounds(records: Sequence[Record]) -> list[Mapping[str, float]]:
    return [r.values for r in records if r.kind == "round"]


def faults(records: Sequence[Record]) -> list[Record]:
    return [r for r in records if r.kind == "fault"]


def model_after(cohorts: Sequence[Sequence[int]], table: Mapping[str, Any] = TABLE) -> Array:
    """The model when each round averages the end points of these clients, by the closed form."""
    problem: Any = build(from_mapping(table)).problem
    x = problem.initial_point()
    for cohort in cohorts:
        if cohort:
            centres = problem.centres[list(cohort)]
            x = (centres + (1 - ALPHA) ** STEPS * (x - centres)).mean(axis=0)
    return x


@register("test-sessions")
@dataclass(frozen=True)
class Sessions(Participation):
    """Client i is on in [start, end), [start, end), ... of row i; without a row, always."""

    on: tuple[tuple[float, ...], ...] = ()

    def attend(self, fleet: Fleet) -> Attendance:
        return SessionTable(self.on, fleet.size)


class SessionTable(Attendance):
    def __init__(self, on: Sequence[Sequence[float]], size: int) -> None:
        always = [(0.0, float("inf"))]
        given = [list(zip(row[::2], row[1::2], strict=True)) for row in on]
        self._spans = given + [always] * (size - len(given))

    def available(self, clients: Ints, t: float) -> Bools:
        return self.session_end(clients, t) > t

    def session_end(self, clients: Ints, t: float) -> Floats:
        ends = [[e for s, e in self._spans[c] if s <= t < e] for c in clients.tolist()]
        return np.array([e[0] if e else t for e in ends], dtype=np.float64)

    def next_on(self, clients: Ints, t: float) -> Floats:
        starts = [[max(s, t) for s, e in self._spans[c] if max(s, t) < e] for c in clients.tolist()]
        return np.array([min(s, default=np.inf) for s in starts], dtype=np.float64)


@register("test-delays")
@dataclass(frozen=True)
class Scripted(Latency):
    """Client i works `work[i]` seconds (1 without an entry); those in `never` work for ever."""

    work: tuple[float, ...] = ()
    download: float = 0.0
    upload: float = 0.0
    never: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    how: Literal["nan", "negative", "raises"] = "nan"

    def delays(self, fleet: Fleet) -> Delays:
        return ScriptedDelays(self, fleet.size)


class ScriptedDelays(Delays):
    def __init__(self, model: Scripted, size: int) -> None:
        self._model = model
        self._work = np.ones(size)
        self._work[: len(model.work)] = model.work
        self._work[list(model.never)] = np.inf
        self._work[list(model.wrong)] = {"negative": -1.0}.get(model.how, np.nan)

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.full(len(clients), self._model.download)

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        if self._model.how == "raises":
            raise LookupError("no trace for this device")
        return self._work[clients]

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.full(len(clients), self._model.upload)


@register("test-weights")
@dataclass(frozen=True)
class Weights(Estimator[None]):
    """The same weight for whoever responds."""

    each: float = 0.0

    def begin(self, fleet: Fleet, attendance: Attendance) -> None:
        return None

    def weigh(self, state: None, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, None]:
        return np.full(len(responders), self.each), None


@register("test-scripted")
@dataclass(frozen=True)
class Faulty(Algorithm[ServerPoint]):
    """FedAvg in which the work of some clients raises, or gives NaN or infinity."""

    raises: tuple[int, ...] = ()
    nan: tuple[int, ...] = ()
    infinite: tuple[int, ...] = ()
    until: int = 1 << 30  # dispatches, after which all is well
    server_step: float = 1.0

    def phases(self, problem: Problem) -> Sequence[Phase[ServerPoint, Any, Any]]:
        local = FedAvg(STEPS, "full", ALPHA, server=Descend(self.server_step))
        return (FaultyWork(self, LocalSGD(local, problem)),)

    def begin(self, problem: Problem, x: Array) -> ServerPoint:
        return ServerPoint(x)

    def model(self, state: ServerPoint) -> Array:
        return state.point


WORK: list[tuple[list[int], int]] = []
"""Every call of local work since a test cleared it: whose, and how many steps."""


@dataclass(frozen=True)
class FaultyWork(Phase[ServerPoint, Broadcast, Endpoint]):
    algorithm: Faulty
    inner: LocalSGD

    payload_kind = Endpoint
    steps = STEPS

    def broadcast(self, state: ServerPoint, version: int) -> Broadcast:
        sent: Broadcast = self.inner.broadcast(state, version)
        return sent

    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[Endpoint]:
        WORK.append((np.atleast_1d(view.clients).tolist(), steps))
        early = view.dispatches < self.algorithm.until
        guilty = np.isin(view.clients, self.algorithm.raises) & early
        if guilty.any():
            raise LookupError("no such sample")
        point = self.inner.local(download, view, memory, steps).payload.point.copy()
        point[np.isin(view.clients, self.algorithm.nan) & early] = np.nan
        point[np.isin(view.clients, self.algorithm.infinite) & early] = np.inf
        return LocalResult(Endpoint(point))

    def step(
        self, state: ServerPoint, arrivals: Arrivals[Broadcast, Endpoint], weights: Floats
    ) -> tuple[ServerPoint, Mapping[str, float]]:
        return self.inner.step(state, arrivals, weights)

    def samples(self, clients: Ints, version: int) -> Floats:
        return self.inner.samples(clients, version)

    def download_bytes(self) -> int:
        return self.inner.download_bytes()

    def upload_bytes(self) -> int:
        return self.inner.upload_bytes()
