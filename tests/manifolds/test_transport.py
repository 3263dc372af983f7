"""Vector transports: identity at the same point, tangent, linear, isometric where claimed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.manifolds import Euclidean, Grassmann, Manifold, Sphere, Stiefel
from tests.manifolds.points import points, tangents

MANIFOLDS = [
    Euclidean(3, 4),
    Sphere(6, transport_by="parallel"),
    Sphere(6, transport_by="projection"),
    Stiefel(3, 8),
    Stiefel(4, 4),
    Stiefel(3, 8, "cayley", "canonical", "cayley"),
    *(Grassmann(3, 8, transport_by=by) for by in ("cayley", "parallel", "projection")),
]
CASES = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
LENGTHS = pytest.mark.parametrize("length", [1e-12, 1e-4, 0.5, 2.0])


@CASES
def test_identity_at_the_same_point(manifold: Manifold) -> None:
    x = points(manifold, 6)
    u = tangents(manifold, x, 1.0)
    np.testing.assert_allclose(manifold.transport(x, x, u), u, rtol=0, atol=1e-15)


@CASES
@LENGTHS
def test_lands_in_the_tangent_space(manifold: Manifold, length: float) -> None:
    x = points(manifold, 6)
    y = manifold.retract(x, tangents(manifold, x, length))
    carried = manifold.transport(x, y, tangents(manifold, x, 1.0, visit=3))
    assert manifold.off_tangent(y, carried).max() < 1e-14


@CASES
@settings(max_examples=25)
@given(a=st.floats(-5, 5), b=st.floats(-5, 5))
def test_linear(manifold: Manifold, a: float, b: float) -> None:
    x = points(manifold, 3)
    u, v = (tangents(manifold, x, 1.0, visit=visit) for visit in (2, 3))
    y = manifold.retract(x, tangents(manifold, x, 0.7, visit=4))
    together = manifold.transport(x, y, a * u + b * v)
    apart = a * manifold.transport(x, y, u) + b * manifold.transport(x, y, v)
    # numbers up to 10, a few roundings each
    np.testing.assert_allclose(together, apart, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "manifold",
    [
        Euclidean(5),
        Sphere(6),
        Sphere(2),
        Stiefel(3, 8, "qr", "canonical", "cayley"),
        Grassmann(3, 8),
        Grassmann(3, 8, gauge="paper"),
    ],
    ids=repr,
)
@LENGTHS
def test_isometric_where_claimed(manifold: Manifold, length: float) -> None:
    x = points(manifold, 6)
    y = manifold.retract(x, tangents(manifold, x, length))
    u, v = (tangents(manifold, x, 1.0, visit=visit) for visit in (3, 4))
    carried = manifold.inner(
        y, manifold.transport(x, y, u), manifold.transport(x, y, v)
    ) - manifold.inner(x, u, v)
    assert np.abs(carried).max() < 4e-15


@pytest.mark.parametrize("manifold", [Sphere(6, transport_by="projection"), Stiefel(3, 8)])
def test_projection_never_lengthens(manifold: Manifold) -> None:
    x = points(manifold, 50)
    y = manifold.retract(x, tangents(manifold, x, 1.0))
    u = tangents(manifold, x, 1.0, visit=3)
    norms = manifold.norm(y, manifold.transport(x, y, u))
    assert norms.max() <= 1
    assert norms.min() < 0.99


def test_parallel_transport_there_and_back() -> None:
    sphere = Sphere(6)
    x = points(sphere, 6)
    y = sphere.exp(x, tangents(sphere, x, 2.0))
    u = tangents(sphere, x, 1.0, visit=3)
    back = sphere.transport(y, x, sphere.transport(x, y, u))
    np.testing.assert_allclose(back, u, rtol=0, atol=4e-15)


def test_parallel_transport_is_the_limit_of_small_projections() -> None:
    # Schild's picture: many short projections along the geodesic; the error falls as 1 / steps.
    sphere = Sphere(6)
    projecting = Sphere(6, transport_by="projection")
    x = points(sphere, 4)
    v = tangents(sphere, x, 1.2)
    u = tangents(sphere, x, 1.0, visit=3)
    exact = sphere.transport(x, sphere.exp(x, v), u)
    errors = []
    for steps in (50, 100, 200):
        carried, here = u, x
        for k in range(1, steps + 1):
            there = sphere.exp(x, v * (k / steps))
            carried, here = projecting.transport(here, there, carried), there
        errors.append(np.abs(carried - exact).max())
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.05)
