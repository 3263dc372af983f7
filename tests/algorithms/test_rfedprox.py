"""RFedProx against hand-written steps, and against RFedAvg where they are the same."""

from typing import Any

import numpy as np

from driftfold.algorithms.rfedprox import RFedProx
from driftfold.data import GaussianBlocks
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import Pca
from driftfold.tasks.base import Problem
from driftfold.trees import spread
from tests.algorithms.reference import inverse_qr, qr_retract, riemannian_gradient
from tests.world.toys import Quadratic

ALPHA, MU, K = 0.05, 3.0, 4


def local_ends(problem: Problem) -> Any:
    """End points of the local work of all clients, from the first iterate."""
    algorithm = RFedProx(steps=K, step_size=ALPHA, mu=MU)
    (phase,) = algorithm.phases(problem)
    state = algorithm.begin(problem, problem.initial_point())
    everyone = np.arange(problem.fleet.size)
    download = spread(phase.broadcast(state, 0), len(everyone))
    return phase.local(download, problem.view(everyone, 0 * everyone), None, K).payload.point


def test_without_the_term_it_is_rfedavg() -> None:
    """Up to the rounding of the fused kernel, which RFedAvg has and this one not."""
    table: dict[str, Any] = {
        "task": {
            "kind": "pca",
            "rank": 2,
            "data": {"kind": "gaussian_blocks", "clients": 4, "samples": 12, "dimension": 6},
        },
        "participation": {"kind": "bernoulli", "p": 0.6},
        "horizon": {"rounds": 4},
    }
    local = {"steps": 3, "batch": 5, "step_size": 0.05}
    prox = run(from_mapping({**table, "algorithm": {"kind": "rfedprox", "mu": 0.0, **local}}))
    plain = run(from_mapping({**table, "algorithm": {"kind": "rfedavg", **local}}))
    np.testing.assert_allclose(prox.model, plain.model, rtol=0, atol=1e-13)
    assert prox.event_digest == plain.event_digest


def test_in_flat_space_it_is_fedprox() -> None:
    problem: Any = Quadratic(clients=5).build(Seed(3))
    start = problem.initial_point()
    everyone = np.arange(5)
    batches = problem.view(everyone, 0 * everyone).batches("full", K)
    x = np.tile(start, (5, 1))
    for batch in batches:
        x = x - ALPHA * (x - problem.centres + batch.weights + MU * (x - start))
    np.testing.assert_allclose(local_ends(problem), x, rtol=0, atol=1e-13)


def test_on_the_sphere_it_descends_on_half_the_squared_distance_too() -> None:
    """Textbook sphere; the slope of the term is also that of the distance, by differences."""
    problem: Any = Pca(data=GaussianBlocks(3, 10, 5), rank=1).build(Seed(4))
    start = problem.initial_point()
    for end, rows in zip(local_ends(problem), problem.data.x, strict=True):
        moment = rows.T @ rows / len(rows)
        x = start
        for _ in range(K):
            pull = angle(x, start) / max(np.sin(angle(x, start)), 1e-300)
            back = pull * (start - x * (x @ start))
            u = -ALPHA * (-2 * (moment @ x - x * (x @ moment @ x)) - MU * back)
            x = np.cos(length(u)) * x + np.sin(length(u)) / length(u) * u
        np.testing.assert_allclose(end, x, rtol=0, atol=1e-13)
        # d/dh of dist^2 / 2 along a tangent v is -<log, v>
        back = angle(x, start) / np.sin(angle(x, start)) * (start - x * (x @ start))
        v, h = np.cross(x[:3], start[:3]), 1e-6
        v = np.concatenate([v, [0.3, -0.2]])
        v = v - x * (x @ v)
        half = [angle((x + s * v) / length(x + s * v), start) ** 2 / 2 for s in (h, -h)]
        np.testing.assert_allclose((half[0] - half[1]) / (2 * h), -back @ v, rtol=1e-6, atol=1e-9)


def test_without_a_logarithm_the_inverse_retraction_takes_its_place() -> None:
    problem: Any = Pca(data=GaussianBlocks(3, 10, 6), rank=2).build(Seed(5))
    start = problem.initial_point()
    for end, rows in zip(local_ends(problem), problem.data.x, strict=True):
        moment = rows.T @ rows / len(rows)
        x = start
        for k in range(K):
            back = inverse_qr(x, start) if k else 0.0
            x = qr_retract(x, -ALPHA * (riemannian_gradient(x, moment) - MU * back))
        np.testing.assert_allclose(end, x, rtol=0, atol=1e-12)


def test_the_term_keeps_clients_near_the_start() -> None:
    problem: Any = Pca(data=GaussianBlocks(3, 10, 5), rank=1).build(Seed(4))
    start = problem.initial_point()
    free = Pca(data=GaussianBlocks(3, 10, 5), rank=1).build(Seed(4))
    algorithm = RFedProx(steps=K, step_size=ALPHA, mu=0.0)
    (phase,) = algorithm.phases(free)
    everyone = np.arange(3)
    download = spread(phase.broadcast(algorithm.begin(free, start), 0), 3)
    far = phase.local(download, free.view(everyone, 0 * everyone), None, K).payload.point
    for held, gone in zip(local_ends(problem), far, strict=True):
        assert angle(held, start) < angle(gone, start)


def length(u: Any) -> float:
    return float(np.linalg.norm(u))


def angle(x: Any, y: Any) -> float:
    return float(2 * np.arcsin(length(x - y) / 2))
