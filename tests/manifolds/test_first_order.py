"""Retractions: R_x(0) = x and dR_x(0) = id, by finite differences; second order where it is so."""

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.manifolds import Euclidean, Exponential, Grassmann, Manifold, Sphere, Stiefel
from tests.manifolds.points import points, tangents

STEPS = np.array([3e-2, 1e-2, 3e-3, 1e-3])
MANIFOLDS = [
    Sphere(4, "exp"),
    Sphere(4, "normalise"),
    Stiefel(1, 5),
    Stiefel(3, 8, "qr"),
    Stiefel(3, 8, "polar"),
    Stiefel(4, 4, "qr"),
    Stiefel(4, 4, "polar"),
    Stiefel(3, 8, "cayley", "canonical"),
    Stiefel(4, 4, "cayley", "canonical"),
    *(Grassmann(3, 8, retraction) for retraction in ("cayley", "qr", "polar", "exp")),
]
CASES = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def slope(errors: Array) -> float:
    return float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])


def error(manifold: Manifold, move: Array, tangential: bool) -> float:
    x = points(manifold, 5)
    u = tangents(manifold, x, 1.0)
    errors = []
    for h in STEPS:
        difference = move(x, h * u) - x - h * u
        if tangential:
            difference = manifold.project(x, difference)
        errors.append(np.abs(difference).max())
    return slope(np.array(errors))


@CASES
def test_retraction_errs_by_the_square_of_the_step(manifold: Manifold) -> None:
    # The normal part, -h^2 |u|^2 / 2 and the like, is there for every retraction.
    assert error(manifold, manifold.retract, tangential=False) == pytest.approx(2, abs=0.05)


@CASES
def test_exponential_errs_by_the_square_of_the_step(manifold: Manifold) -> None:
    assert isinstance(manifold, Exponential)
    assert error(manifold, manifold.exp, tangential=False) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("manifold", [Sphere(4), Stiefel(3, 8, "polar"), Stiefel(4, 4, "polar")])
def test_some_are_of_second_order(manifold: Manifold) -> None:
    # Their acceleration is normal (Absil, Malick 2012): the tangential error is h^3.
    assert error(manifold, manifold.retract, tangential=True) == pytest.approx(3, abs=0.05)


def test_the_cayley_transform_is_so_in_the_canonical_metric() -> None:
    # It leaves the geodesic of that metric by h^3, and that of the Euclidean one by h^2.
    x = points(Stiefel(3, 8), 5)
    u = tangents(Stiefel(3, 8), x, 1.0)
    for metric, order in (("canonical", 3), ("euclidean", 2)):
        m = Stiefel(3, 8, "cayley", "canonical" if metric == "canonical" else "euclidean")
        errors = [np.abs(m.retract(x, h * u) - m.exp(x, h * u)).max() for h in STEPS]
        assert slope(np.array(errors)) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize("retraction", ["cayley", "qr", "polar"])
def test_all_retractions_are_so_on_the_grassmann_manifold(retraction: str) -> None:
    kinds = {name: Grassmann(3, 8, name) for name in ("cayley", "qr", "polar")}
    m = kinds[retraction]
    x = points(m, 5)
    u = tangents(m, x, 1.0)
    errors = [m.dist(m.retract(x, h * u), m.exp(x, h * u)).max() for h in STEPS]
    assert slope(np.array(errors)) == pytest.approx(3, abs=0.05)


def test_the_qr_retraction_is_not() -> None:
    assert error(Stiefel(3, 8, "qr"), Stiefel(3, 8, "qr").retract, True) == pytest.approx(
        2, abs=0.1
    )


@CASES
def test_stays_where_it_is(manifold: Manifold) -> None:
    x = points(manifold, 20)
    # the point is normalised once more: a few units in the last place
    np.testing.assert_allclose(manifold.retract(x, 0 * x), x, rtol=0, atol=1e-15)


@CASES
@pytest.mark.parametrize("length", [1e-12, 1.0, 30.0])
def test_lands_on_the_manifold(manifold: Manifold, length: float) -> None:
    x = points(manifold, 20)
    assert manifold.off_point(manifold.retract(x, tangents(manifold, x, length))).max() < 1e-13


def test_euclidean_maps_are_exact() -> None:
    flat = Euclidean(3, 2)
    x, y = points(flat, 4), points(flat, 4, start=9)
    assert np.array_equal(flat.retract(x, y), x + y)
    assert np.array_equal(flat.exp(x, y), x + y)
    assert np.array_equal(flat.log(x, y), flat.inverse_retract(x, y))
    np.testing.assert_array_equal(flat.dist(x, y), np.sqrt(np.sum((x - y) ** 2, axis=(1, 2))))
