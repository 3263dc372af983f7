"""Medians and trimmed means of tangent vectors: closed forms, other people's code, outliers."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from driftfold.assembly import build
from driftfold.combinations.base import Combination
from driftfold.combinations.geometric_median import GeometricMedian
from driftfold.combinations.median import Median
from driftfold.combinations.trimmed_mean import TrimmedMean
from driftfold.combinations.weighted_sum import WeightedSum
from driftfold.manifolds import (
    Euclidean,
    GeooptSphere,
    Grassmann,
    Lorentz,
    Manifold,
    Poincare,
    Power,
    Product,
    Spd,
    Sphere,
    Stiefel,
)
from driftfold.registry import kind_of
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.modules import own_kinds

RULES: list[Combination] = [Median(), TrimmedMean(0.2), TrimmedMean(0.0), GeometricMedian()]
ROBUST = [Median(), TrimmedMean(0.41), GeometricMedian()]
MANIFOLDS: list[Manifold] = [
    Euclidean(2, 3),
    Sphere(5),
    Stiefel(2, 5),
    Stiefel(2, 5, metric="canonical"),
    Grassmann(2, 5),
    Spd(3),
    Lorentz(3),
    Poincare(3),
    Power(Sphere(3), 2),
    Product({"a": Spd(2), "b": Sphere(4), "c": Euclidean(2)}),
    GeooptSphere(5),
]
FLAT = Euclidean(4)
HERE = np.zeros(4)
DRAWS = Seed(8).stream("vectors")


def tangent(manifold: Manifold, count: int) -> tuple[Any, Any]:
    """A point, and vectors there, shape (count, *shape)."""
    x = manifold.random_point(DRAWS, np.arange(1))[0]
    drawn = DRAWS.normal(np.arange(count), 1, x.size).reshape(count, *x.shape)
    return x, manifold.project(np.broadcast_to(x, drawn.shape), drawn)


def test_every_kind_is_tried() -> None:
    tried: list[Combination] = [*RULES, WeightedSum()]
    assert set(own_kinds("combination")) == set(map(kind_of, tried))


@pytest.mark.parametrize("count", [1, 5, 8])
def test_equal_weights_give_numpys_median_and_scipys_trimmed_mean(count: int) -> None:
    """Rounding only; scipy cuts whole vectors, so the share is one that cuts none in two."""
    vectors = DRAWS.normal(np.arange(count), 1, 4)
    weights = np.full(count, 0.3)
    got = Median().combine(FLAT, HERE, weights, vectors)
    np.testing.assert_allclose(got, 0.3 * count * np.median(vectors, axis=0), rtol=1e-14)
    for cut in range((count - 1) // 2 + 1):
        got = TrimmedMean(cut / count).combine(FLAT, HERE, weights, vectors)
        wanted = scipy.stats.trim_mean(vectors, (cut + 1e-9) / count, axis=0)
        np.testing.assert_allclose(got, 0.3 * count * wanted, rtol=1e-12)


def test_whole_weights_are_repetitions() -> None:
    """A vector of weight n counts as n vectors of weight 1; one of weight 0 as none."""
    vectors = DRAWS.normal(np.arange(5), 2, 4)
    times = np.array([1, 3, 0, 2, 2])
    repeated = np.repeat(vectors, times, axis=0)
    ones = np.ones(len(repeated))
    for rule in RULES:
        got = rule.combine(FLAT, HERE, times / 1.0, vectors)
        wanted = rule.combine(FLAT, HERE, ones, repeated)
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        Median().combine(FLAT, HERE, times / 1.0, vectors),
        8 * np.median(repeated, axis=0),
        rtol=1e-14,
    )


def test_a_cut_through_a_number_leaves_a_part_of_it() -> None:
    """Weights 1, 1, 2 and a share of 3/8: of 4 in all, 1 remains, half of it of weight 1's."""
    numbers, weights = np.array([[0.0], [1.0], [10.0]]), np.array([1.0, 1.0, 2.0])
    got = TrimmedMean(0.375).combine(Euclidean(1), np.zeros(1), weights, numbers)
    np.testing.assert_allclose(got, [4 * (0.5 * 1 + 0.5 * 10)], rtol=1e-12)


def test_the_geometric_median_of_a_triangle_is_fermats_point() -> None:
    """Sides seen under 120 degrees; of an obtuse one it is the corner."""
    plane, weights = Euclidean(2), np.full(3, 1 / 3)
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
    z = GeometricMedian(tolerance=1e-13, iterations=500).combine(
        plane, np.zeros(2), weights, corners
    )
    rays = (corners - z) / np.linalg.norm(corners - z, axis=1, keepdims=True)
    cosines = (rays @ rays.T)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(cosines, -0.5, atol=1e-8)
    obtuse = np.array([[0.0, 0.0], [4.0, 1.0], [-4.0, 1.0]])
    z = GeometricMedian().combine(plane, np.zeros(2), weights, obtuse)
    np.testing.assert_allclose(z, 0, atol=1e-4)


@pytest.mark.parametrize(
    "manifold", [Stiefel(2, 4, metric="canonical"), Spd(2), Sphere(4)], ids=repr
)
def test_the_geometric_median_is_that_of_the_metric(manifold: Manifold) -> None:
    """What a general solver finds, with lengths by the manifold's inner product."""
    x, vectors = tangent(manifold, 6)
    weights = np.array([0.1, 0.3, 0.2, 0.05, 0.15, 0.2])

    def total(z: Any) -> float:
        return float(weights @ manifold.norm(x, vectors - manifold.project(x, z.reshape(x.shape))))

    found = scipy.optimize.minimize(total, np.zeros(x.size), method="BFGS", tol=1e-10)
    got = GeometricMedian(tolerance=1e-12, iterations=500).combine(manifold, x, weights, vectors)
    assert total(got.ravel()) <= found.fun * (1 + 1e-9)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_results_are_tangent_and_scale_with_weights(rule: Combination, manifold: Manifold) -> None:
    x, vectors = tangent(manifold, 7)
    weights = DRAWS.uniform(np.arange(7), 5, 1)[:, 0]
    got = rule.combine(manifold, x, weights, vectors)
    assert got.shape == x.shape
    assert got.dtype == vectors.dtype
    assert manifold.off_tangent(x, got) < 1e-13
    same = rule.combine(manifold, x, weights, np.stack([vectors[0]] * 7))
    np.testing.assert_allclose(same, weights.sum() * vectors[0], rtol=0, atol=1e-13)
    one = rule.combine(manifold, x, weights[:1], vectors[:1])
    np.testing.assert_allclose(one, weights[0] * vectors[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        rule.combine(manifold, x, 3 * weights, vectors), 3 * got, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("manifold", [FLAT, Sphere(5), Stiefel(2, 5), Spd(3)], ids=repr)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_order_of_the_clients_does_not_matter(rule: Combination, manifold: Manifold) -> None:
    """Not by a bit where numbers are sorted; Weiszfeld's sums are in order of the clients."""
    x, vectors = tangent(manifold, 9)
    vectors[3] = vectors[7]  # ties, of different weights
    weights = np.linspace(0.1, 0.2, 9)
    order = np.array([4, 7, 0, 8, 2, 3, 6, 1, 5])
    got = rule.combine(manifold, x, weights, vectors)
    again = rule.combine(manifold, x, weights[order], vectors[order])
    if isinstance(rule, GeometricMedian):
        np.testing.assert_allclose(again, got, rtol=0, atol=1e-7)
    else:
        assert np.array_equal(again, got)
    assert np.array_equal(rule.combine(manifold, x, weights, vectors), got)


@pytest.mark.parametrize("far", [1e6, 1e200])
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("rule", ROBUST, ids=repr)
def test_two_fifths_of_outliers_move_it_by_no_more_than_the_spread(
    rule: Combination, manifold: Manifold, far: float
) -> None:
    """12 of 20 vectors lie within 1 of a common one; 8 are far away, all in one direction.

    A coordinate of the median stays among those of the honest, so each of at most 9 coordinates
    moves by 1 at most, and the whole by 3; the geometric median moves by 2 r / (1 - 2 * 0.4) at
    most, ten times the radius r = 1 (Lopuhaa and Rousseeuw, 1991); 2 is seen. The sum is lost.
    """
    x, vectors = tangent(manifold, 21)
    centre, honest = vectors[20], vectors[:12]
    honest = honest / manifold.norm(x, honest).reshape(12, *[1] * x.ndim)
    sent = np.concatenate([centre + honest, np.stack([far * vectors[19]] * 8)])
    weights = np.full(20, 1 / 20)
    got = rule.combine(manifold, x, weights, sent)
    assert manifold.norm(x, got - centre) < 3.01
    lost = WeightedSum().combine(manifold, x, weights, sent) - centre
    assert np.abs(lost).max() > 1e3


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_single_precision_is_kept_and_sums_are_in_double(rule: Combination) -> None:
    sphere = Sphere(6)
    x, vectors = tangent(sphere, 5)
    weights = np.full(5, 0.2)
    got = rule.combine(sphere, x.astype(np.float32), weights, vectors.astype(np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, rule.combine(sphere, x, weights, vectors), atol=3e-6)


def test_half_of_the_weight_at_one_place_is_the_geometric_median() -> None:
    vectors = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [50.0, -3.0], [7.0, 7.0]])
    got = GeometricMedian().combine(Euclidean(2), np.zeros(2), np.full(5, 0.2), vectors)
    assert np.array_equal(got, np.array([1.0, 2.0]))


@pytest.mark.parametrize("kind", ["rfedags", "rfedavg", "rfedsvrg", "rfedproj", "rfed_frechet"])
@pytest.mark.parametrize("combine", ["median", "trimmed_mean", "geometric_median"])
def test_every_algorithm_combines_by_it(kind: str, combine: str) -> None:
    table: dict[str, Any] = {
        "task": {
            "kind": "pca",
            "rank": 2,
            "data": {"kind": "gaussian_blocks", "clients": 5, "samples": 9, "dimension": 6},
        },
        "algorithm": {"kind": kind, "steps": 2, "step_size": 0.05, "combine": combine},
        "horizon": {"rounds": 2},
    }
    spec = from_mapping(table)
    model = run(spec).model
    assert build(spec).problem.manifold.off_point(model) < 1e-12
    table["algorithm"]["combine"] = "weighted_sum"
    assert np.abs(run(from_mapping(table)).model - model).max() > 1e-6
