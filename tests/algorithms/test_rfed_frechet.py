"""Fréchet-mean aggregation against closed forms, solvers of others, and the tangent mean."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

from driftfold.algorithms.base import Arrivals, Endpoint
from driftfold.algorithms.local_steps import ServerPoint
from driftfold.algorithms.rfed_frechet import RFedFrechet
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.combinations.geometric_median import GeometricMedian
from driftfold.manifolds import Euclidean, Geodesic, Lorentz, Manifold, Spd, Sphere, Stiefel
from driftfold.manifolds.spd import factor
from driftfold.optimizers.adam import Adam
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.trees import spread
from tests.world.toys import Quadratic

DRAWS = Seed(5).stream("ends")


def aggregated(
    rule: Any, manifold: Manifold, x: Any, ends: Any, weights: Any, older: Any = None
) -> tuple[Any, Any]:
    """The server's next point and metrics for the end points given, some begun at older points."""
    problem: Any = Quadratic(clients=3).build(Seed(1))
    problem.manifold = manifold
    (phase,) = rule.phases(problem)
    state = ServerPoint(x, rule.server.begin(manifold, x))
    download = spread(phase.broadcast(state, 0), len(ends))
    stale = np.zeros(len(ends), dtype=bool)
    if older is not None:
        stale[1:] = True
        points = np.stack([x] + [older] * (len(ends) - 1))
        download = replace(download, point=points)
    arrivals = Arrivals(np.arange(len(ends)), Endpoint(ends), download, 0 * stale, stale)
    new, metrics = phase.step(state, arrivals, np.asarray(weights))
    return new.point, metrics


def around(manifold: Manifold, x: Any, count: int, size: float) -> Any:
    drawn = DRAWS.normal(np.arange(count), 0, x.size).reshape(count, *x.shape)
    return manifold.retract(x, manifold.project(x, size * drawn))


def test_two_matrices_meet_at_their_geometric_mean() -> None:
    """A # B = A^(1/2) (A^(-1/2) B A^(-1/2))^(1/2) A^(1/2), from a point that is neither."""
    spd = Spd(3)
    a, b, x = spd.random_point(DRAWS, np.arange(3))
    got, metrics = aggregated(RFedFrechet(), spd, x, np.stack([a, b]), [0.5, 0.5])
    A, B = spd.embed(a), spd.embed(b)
    root = scipy.linalg.sqrtm(A)
    inverse = np.linalg.inv(root)
    wanted = root @ scipy.linalg.sqrtm(inverse @ B @ inverse) @ root
    # The iteration stops at a gradient of 1e-10.
    np.testing.assert_allclose(spd.embed(got), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    assert 1 < metrics["iterations"] < 100


def test_commuting_matrices_have_a_weighted_geometric_mean() -> None:
    spd, weights = Spd(2), np.array([0.2, 0.5, 0.3])
    values = np.array([[1.0, 9.0], [4.0, 2.0], [0.3, 5.0]])
    ends = factor(values[:, :, None] * np.eye(2))
    got, _ = aggregated(
        RFedFrechet(), spd, factor(np.array([[2.0, 1.0], [1.0, 3.0]])), ends, weights
    )
    np.testing.assert_allclose(
        spd.embed(got), np.diag(np.exp(weights @ np.log(values))), rtol=0, atol=1e-9
    )


def test_on_the_sphere_it_is_what_a_general_solver_finds() -> None:
    sphere, weights = Sphere(3), np.array([0.5, 0.2, 0.3])
    x = np.array([0.0, 0.0, 1.0])
    ends = around(sphere, x, 3, 0.5)

    def spread_of(angles: Any) -> float:
        azimuth, height = angles
        y = np.array(
            [np.cos(azimuth) * np.sin(height), np.sin(azimuth) * np.sin(height), np.cos(height)]
        )
        return float(weights @ np.arccos(ends @ y) ** 2)

    found = scipy.optimize.minimize(spread_of, [0.3, 0.5], method="Nelder-Mead", tol=1e-14)
    got, _ = aggregated(RFedFrechet(), sphere, x, ends, weights)
    # A smooth minimum is known to the root of the function's 1e-16.
    assert np.sum(weights * np.arccos(ends @ got) ** 2) <= found.fun + 1e-15
    np.testing.assert_allclose(weights @ sphere.log(got, ends), 0, atol=1e-10)


def test_on_stiefel_ways_of_the_polar_retraction_add_up_to_nothing() -> None:
    """The inverse by scipy's Lyapunov solver; the mean turns with the basis of the end points."""
    stiefel, weights = Stiefel(2, 6, "polar"), np.array([0.1, 0.6, 0.3])
    x = stiefel.random_point(DRAWS, np.arange(1))[0]
    ends = around(stiefel, x, 3, 0.15)
    got, metrics = aggregated(RFedFrechet(), stiefel, x, ends, weights)
    assert metrics["iterations"] > 1
    total = np.zeros((2, 6))
    for w, y in zip(weights, ends, strict=True):
        m = got @ y.T
        total += w * (scipy.linalg.solve_continuous_lyapunov(m, 2 * np.eye(2)) @ y - got)
    np.testing.assert_allclose(total, 0, atol=1e-9)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    turned, _ = aggregated(RFedFrechet(), stiefel, turn @ x, turn @ ends, weights)
    np.testing.assert_allclose(turned, turn @ got, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("manifold", "server_map"),
    [(Spd(3), "exp"), (Lorentz(2), "exp"), (Sphere(4), "exp"), (Euclidean(3), "exp"),
     (Sphere(4, "normalise"), "retraction"), (Stiefel(2, 5), "retraction"),
     (Stiefel(2, 5, "polar"), "retraction")],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("late", [False, True])
def test_one_iteration_is_the_tangent_mean(manifold: Manifold, server_map: Any, late: bool) -> None:
    """Bit for bit, with weights that do not sum to 1, and with work begun at older points."""
    x = manifold.random_point(DRAWS, np.arange(1))[0]
    older = around(manifold, x, 1, 0.1)[0]
    ends = around(manifold, older, 4, 0.2)
    weights = np.array([0.4, 0.7, 0.1, 0.3])
    points = [
        aggregated(rule, manifold, x, ends, weights, older if late else None)[0]
        for rule in (
            RFedFrechet(server_map=server_map, iterations=1),
            RFedAvg(server_map=server_map),
        )
    ]
    assert np.array_equal(*points)


def test_whole_runs_of_one_iteration_are_runs_of_rfedavg() -> None:
    """Corrected weights among them: the fused kernels, the batches, the events are the same."""
    table: dict[str, Any] = {
        "task": {
            "kind": "spd_frechet_mean",
            "data": {"kind": "synthetic_spd", "clients": 4, "samples": 5, "size": 3},
        },
        "participation": {"kind": "bernoulli", "p": 0.7},
        "estimator": "oracle",
        "horizon": {"rounds": 3},
    }
    local = {"steps": 3, "batch": 2, "step_size": 0.05}
    one = {"kind": "rfed_frechet", "iterations": 1, **local}
    frechet = run(from_mapping({**table, "algorithm": one}))
    tangent = run(from_mapping({**table, "algorithm": {"kind": "rfedavg", **local}}))
    assert np.array_equal(frechet.model, tangent.model)
    assert frechet.event_digest == tangent.event_digest
    full = run(from_mapping({**table, "algorithm": {**one, "iterations": 100}}))
    assert not np.array_equal(full.model, tangent.model)


def test_in_flat_space_all_iterations_are_one() -> None:
    space, x = Euclidean(3), np.array([1.0, -2.0, 0.5])
    ends, weights = around(space, x, 4, 2.0), np.array([0.4, 0.7, 0.1, 0.3])
    got, metrics = aggregated(RFedFrechet(), space, x, ends, weights)
    assert np.array_equal(got, aggregated(RFedAvg(), space, x, ends, weights)[0])
    assert metrics["iterations"] == 1


def test_weights_that_sum_to_s_lead_s_times_the_way() -> None:
    manifold = Lorentz(3)
    x = manifold.random_point(DRAWS, np.arange(1))[0]
    ends, weights = around(manifold, x, 4, 0.8), np.array([0.1, 0.4, 0.3, 0.2])
    mean, _ = aggregated(RFedFrechet(), manifold, x, ends, weights)
    twice, _ = aggregated(RFedFrechet(), manifold, x, ends, 2 * weights)
    np.testing.assert_allclose(twice, manifold.exp(x, 2 * manifold.log(x, mean)), rtol=0, atol=1e-9)
    assert manifold.norm(mean, weights @ manifold.log(mean, ends)) < 1e-10


def test_end_points_far_apart_in_negative_curvature_have_a_mean_too() -> None:
    """Whole steps go beyond it again and again: the plain iteration does not come near."""
    manifold: Geodesic = Lorentz(2)
    angles = np.array([0.0, 1.9, 3.0])
    ends = manifold.exp(np.zeros(2), 9.0 * np.stack([np.cos(angles), np.sin(angles)], axis=-1))
    weights, x = np.array([0.2, 0.4, 0.4]), np.zeros(2)
    got, metrics = aggregated(RFedFrechet(), manifold, x, ends, weights)
    assert manifold.norm(got, weights @ manifold.log(got, ends)) <= 1e-10
    assert metrics["iterations"] < 100
    plain = x
    for _ in range(100):
        plain = manifold.exp(plain, weights @ manifold.log(plain, ends))
    assert manifold.norm(plain, weights @ manifold.log(plain, ends)) > 1e-3


def test_with_a_geometric_median_it_is_that_of_the_manifold() -> None:
    """There the unit vectors to the end points add up to nothing."""
    sphere, weights = Sphere(4), np.array([0.3, 0.2, 0.15, 0.2, 0.15])
    x = np.array([0.0, 0.0, 0.0, 1.0])
    ends = around(sphere, x, 5, 0.4)
    rule = RFedFrechet(combine=GeometricMedian(tolerance=1e-12, iterations=1000))
    got, _ = aggregated(rule, sphere, x, ends, weights)
    ways = sphere.log(got, ends)
    directions = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
    np.testing.assert_allclose(weights @ directions, 0, atol=1e-6)


def test_the_optimiser_is_given_the_way_to_the_mean() -> None:
    manifold = Spd(2)
    x = manifold.random_point(DRAWS, np.arange(1))[0]
    ends, weights = around(manifold, x, 3, 0.5), np.full(3, 1 / 3)
    mean, _ = aggregated(RFedFrechet(), manifold, x, ends, weights)
    rule = Adam(size=0.3, eps=1e-12)
    got, metrics = aggregated(RFedFrechet(server=rule), manifold, x, ends, weights)
    way = manifold.log(x, mean)
    np.testing.assert_allclose(
        manifold.embed(got),
        manifold.embed(manifold.exp(x, 0.3 * way / manifold.norm(x, way))),
        rtol=0, atol=1e-9,
    )  # fmt: skip
    assert metrics["step_norm"] == pytest.approx(0.3, abs=1e-9)
