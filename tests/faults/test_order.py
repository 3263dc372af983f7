"""Ties, clients in flight, and answers that are older than the server's model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.base import Arrivals
from driftfold.arrays import Array, Ints
from driftfold.assembly import build
from driftfold.manifolds.sphere import Sphere
from driftfold.registry import register
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.world.cadence import Cadence
from driftfold.world.server import Server
from tests.world.scripted import CLIENTS, TABLE, FaultyWork, told
from tests.world.toys import Drill, Survey

ARRIVED: list[list[tuple[int, float]]] = []


@register("test-first-come")
@dataclass(frozen=True)
class FirstCome(Cadence):
    """Everybody idle works; the server steps on every `buffer` answers."""

    buffer: int = 1

    def chooses(self) -> str | None:
        return "first come"

    async def advance(self, server: Server) -> None:
        version = server.version
        while server.version == version:
            pool = server.pool()
            waiting = [a.client for a in server.inbox.peek()[0]]
            pool = np.setdiff1d(pool, waiting)
            if len(pool):
                willing, dispatch = server.invite(pool)
                assert not set(willing.tolist()) & set(server.in_flight)
                server.send(0, willing, dispatch)
            await server.inbox.fill({0: self.buffer}, patient=False)
            taken = server.inbox.take(0, self.buffer)
            if taken:
                ARRIVED.append([(a.client, a.received) for a in taken])
                server.step(0, taken)


def first_come(work: list[float], buffer: int = 1, **more: Any) -> dict[str, Any]:
    return {
        **TABLE,
        "cadence": {"kind": "test-first-come", "buffer": buffer},
        "latency": {"kind": "test-delays", "work": work},
        **more,
    }


def test_ties_are_in_order_of_scheduling() -> None:
    """Clients are sent out by id, so equal delays answer by id; later dispatches go behind."""
    ARRIVED.clear()
    table = first_come([2.0, 1.0, 1.0, 2.0, 1.0, 1.0], horizon={"rounds": 9})
    one, _ = told(table)
    assert [arrival for (arrival,) in ARRIVED] == [
        (1, 1.0), (2, 1.0), (4, 1.0), (5, 1.0),
        (0, 2.0), (3, 2.0), (1, 2.0), (2, 2.0), (4, 2.0),
    ]  # fmt: skip
    two, _ = told(table)
    assert one.event_digest == two.event_digest


def test_who_arrived_first_is_not_who_is_summed_first() -> None:
    """Equal arrivals in another order give the same bits: sums run by id."""
    fast, _ = told(first_come([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], CLIENTS, horizon={"rounds": 1}))
    slow, _ = told(first_come([6.0, 5.0, 4.0, 3.0, 2.0, 1.0], CLIENTS, horizon={"rounds": 1}))
    assert fast.event_digest != slow.event_digest
    assert fast.model_digest == slow.model_digest


def test_staleness_counts_server_updates_since_the_download(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[list[int], list[int], list[bool]]] = []
    downloads: dict[int, Array] = {}
    states: dict[int, Array] = {}
    honest = FaultyWork.step

    def step(self: Any, state: Any, arrivals: Arrivals[Any, Any], weights: Any) -> Any:
        assert arrivals.versions.dtype == np.int64
        version = len(seen)
        states[version] = state.point
        seen.append(
            (arrivals.clients.tolist(), arrivals.versions.tolist(), arrivals.stale.tolist())
        )
        for point, got in zip(arrivals.download.point, arrivals.versions.tolist(), strict=True):
            downloads[got] = point
            np.testing.assert_array_equal(point, states[got])
        return honest(self, state, arrivals, weights)

    monkeypatch.setattr(FaultyWork, "step", step)
    task = {"kind": "test-quadratic", "clients": 3, "noise": 0.0}
    told(first_come([1.0, 1.0, 2.5], horizon={"rounds": 6}, task=task))
    assert seen == [
        ([0], [0], [False]),
        ([1], [0], [True]),
        # At 1 s client 0 went out again at version 1, client 1 at version 2.
        ([0], [1], [True]),
        ([1], [2], [True]),
        ([2], [0], [True]),  # 2.5 s: four updates since its download
        ([0], [3], [True]),
    ]


def test_a_client_in_flight_is_never_invited_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a buffered cadence with two phases and clients that come and go."""
    invite, busy = Server.invite, []

    def watched(self: Server, clients: Ints) -> tuple[Ints, int]:
        assert not set(clients.tolist()) & set(self.in_flight)
        assert len(set(clients.tolist())) == len(clients)
        busy.append(len(self.in_flight))
        return invite(self, clients)

    monkeypatch.setattr(Server, "invite", watched)
    result = run(
        from_mapping(
            {
                **TABLE,
                "task": {"kind": "test-quadratic", "clients": 12},
                "algorithm": {"kind": "test-two-phase"},
                "cadence": {"kind": "test-buffered"},
                "estimator": {"kind": "none"},
                "participation": {"kind": "diurnal", "slot": 5.0, "duty": 0.6},
                "latency": {"kind": "lognormal", "per_sample": 0.1},
                "horizon": {"rounds": 60},
            }
        )
    )
    assert max(busy) > 0
    assert result.counts["dropped"] > 0
    assert Drill.missed == "carry"
    assert Survey.missed == "drop"


SPHERE: dict[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 3, "samples": 8, "dimension": 4},
    },
    "algorithm": {"kind": "rfedags", "steps": 1, "step_size": 1.0},
    "cadence": {"kind": "test-first-come"},
    "latency": {"kind": "test-delays", "work": [1.0, 1.5, 4.0]},
    "horizon": {"rounds": 5},
}


def transported(x: Array, y: Array, u: Array) -> Array:
    """Parallel transport on the sphere from x to y, by the textbook: along the great circle."""
    angle = np.arccos(np.clip(x @ y, -1.0, 1.0))
    if angle < 1e-12:
        return u
    e = (y - (x @ y) * x) / np.sin(angle)
    return u + (u @ e) * ((np.cos(angle) - 1) * e - np.sin(angle) * x)


def gradient(problem: Any, client: int, x: Array) -> Array:
    z = problem.data.x[client]
    g = -2 * z.T @ (z @ x) / len(z)
    return g - (x @ g) * x


def test_a_stale_tangent_vector_is_carried_to_the_present_point() -> None:
    """Answers come at 1 (0), 1.5 (1), 2 (0) and 3 (1, sent out before 0); worked out by hand."""
    spec = from_mapping(SPHERE)
    problem: Any = build(spec).problem
    assert isinstance(problem.manifold, Sphere)
    models = [problem.initial_point()]
    downloaded = {0: 0, 1: 0, 2: 0}
    for client in (0, 1, 0, 1, 0):
        base, x = models[downloaded[client]], models[-1]
        v = transported(base, x, gradient(problem, client, base))
        length = np.linalg.norm(v)
        models.append(np.cos(length) * x - np.sin(length) * v / length)
        downloaded[client] = len(models) - 1
    # arccos loses half the digits at small angles; the vectors are of length 1.
    np.testing.assert_allclose(run(spec).model, models[-1], rtol=0, atol=1e-10)


def test_without_the_transport_the_model_would_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the test above would show nothing."""
    whole = run(from_mapping(SPHERE)).model

    def unmoved(self: Sphere, x: Array, y: Array, u: Array) -> Array:
        return u

    monkeypatch.setattr(Sphere, "transport", unmoved)
    assert np.abs(run(from_mapping(SPHERE)).model - whole).max() > 1e-4
