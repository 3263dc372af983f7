"""What geoopt's ball gets wrong: one shape. What it gets right, the adapter takes."""

import geoopt
import numpy as np
import torch

from driftfold.manifolds import GeooptPoincare, Poincare
from driftfold.manifolds.hyperbolic_forms import to_ball
from tests.manifolds.points import points, tangents


def test_inner_products_are_multiplied_by_all_conformal_factors() -> None:
    ball = GeooptPoincare(5)
    x, u = points(ball, 6), 0.1 * points(ball, 6, start=20)
    theirs = geoopt.PoincareBall().inner(torch.tensor(x), torch.tensor(u))
    assert theirs.shape == (6, 6)
    assert ball.inner(x, u, u).shape == (6,)
    np.testing.assert_allclose(ball.inner(x, u, u), np.diagonal(theirs.numpy()), rtol=1e-14)


def test_agrees_with_ours() -> None:
    ours, theirs = Poincare(3), GeooptPoincare(3)
    x = points(ours, 8)
    for length in (1e-8, 1e-3, 1.0, 3.0):
        w = tangents(ours, x, length)
        u = ours.displacement(x, w)
        y = ours.exp(x, w)
        np.testing.assert_allclose(theirs.exp(x, u), y, rtol=0, atol=1e-13)
        np.testing.assert_allclose(theirs.dist(x, y), ours.dist(x, y), rtol=1e-7, atol=1e-13)
        np.testing.assert_allclose(
            theirs.log(x, y), ours.displacement(x, ours.log(x, y)), rtol=0, atol=1e-13
        )
        v = ours.displacement(x, tangents(ours, x, 1.0, visit=5))
        carried = ours.transport(x, y, 2 * v / (1 - np.sum(x * x, -1, keepdims=True)))
        np.testing.assert_allclose(
            theirs.transport(x, y, v), ours.displacement(y, carried), rtol=0, atol=1e-13
        )
        np.testing.assert_allclose(theirs.inner(x, u, u), ours.inner(x, w, w), rtol=1e-12)
        g = tangents(ours, x, 1.0, visit=6)
        np.testing.assert_allclose(
            theirs.gradient(x, g), ours.displacement(x, ours.gradient(x, g)), rtol=1e-12
        )


def test_ours_has_no_edge_where_points_still_are() -> None:
    # Theirs refuses what is within 1e-5 of the boundary, 12.2 from the origin.
    ours, theirs = Poincare(2), GeooptPoincare(2)
    b = to_ball(np.array([3e6, 4e6]))
    assert theirs.off_point(b) > 1e-6
    assert ours.off_point(b) == 0
    np.testing.assert_allclose(ours.dist(np.zeros(2), b), np.arcsinh(5e6), rtol=1e-4)
