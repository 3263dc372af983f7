"""After thousands of random steps points are points, vectors tangent, and as long as they were."""

import numpy as np
import pytest

from driftfold.manifolds import (
    Euclidean,
    Grassmann,
    Lorentz,
    Manifold,
    Poincare,
    Product,
    Spd,
    Sphere,
    Stiefel,
)
from tests.manifolds.points import ambient, points, tangents

WALKS: list[Manifold] = [
    Sphere(5),
    Lorentz(4),
    Poincare(4),
    Spd(3),
    Spd(3, "second_order"),
    Spd(3, transport_by="path"),
    Product({"a": Sphere(3), "b": Spd(2), "c": Lorentz(2), "d": Euclidean(2)}),
]


def sign(t: int) -> float:
    """Now forth, now back, as if at random, so that no walk drifts out of all bounds."""
    return float(np.sign(np.sin(t**2 + 1)))


@pytest.mark.parametrize("manifold", WALKS, ids=repr)
@pytest.mark.parametrize("rounds", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_long_walk(manifold: Manifold, rounds: int) -> None:
    assert manifold.isometric
    x = points(manifold, 6)
    carried = tangents(manifold, x, 1.0)
    steps = [0.02 * ambient(manifold, 6, visit=30 + k) for k in range(50)]
    for t in range(rounds):
        y = manifold.retract(x, manifold.project(x, sign(t) * steps[t % 50]))
        carried, x = manifold.transport(x, y, carried), y
    assert manifold.off_point(x).max() < 1e-10
    assert manifold.off_tangent(x, carried).max() < 1e-10
    # 10,000 roundings of 2e-16, each in any direction, would sum to 2e-14
    np.testing.assert_allclose(manifold.norm(x, carried), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rounds", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_positive_definite_however_far(rounds: int) -> None:
    spd = Spd(4)
    x = points(spd, 6)
    steps = [0.01 * spd.project(x, ambient(spd, 6, visit=30 + k)) for k in range(50)]
    for t in range(rounds):
        x = spd.exp(x, sign(t) * steps[t % 50])
    matrices = spd.embed(x)
    assert np.array_equal(matrices, matrices.mT)
    assert spd.off_point(x).max() == 0
    assert (np.linalg.svd(x, compute_uv=False) > 0).all()


@pytest.mark.parametrize(
    "manifold",
    [
        *(Grassmann(2, 6, retraction=how) for how in ("cayley", "qr", "polar", "exp")),
        *(Stiefel(2, 6, retraction=how) for how in ("qr", "polar", "cayley")),
        *(Stiefel(2, 6, metric=metric) for metric in ("euclidean", "canonical")),
    ],
    ids=repr,
)
@pytest.mark.parametrize("up", [-1, 1])
@pytest.mark.parametrize("rounds", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_rounding_errors_of_a_descent_do_not_grow(
    manifold: Grassmann | Stiefel, up: int, rounds: int
) -> None:
    """Whatever the sign of the Euclidean gradient's normal part, large beside the rest."""
    x = along_exp = points(manifold, 3)
    curvature = up * np.linspace(0.5, 2, 6)
    for _ in range(rounds):
        x = manifold.retract(x, -0.3 * manifold.gradient(x, 2 * curvature * x))
        u = manifold.gradient(along_exp, 2 * curvature * along_exp)
        along_exp = manifold.exp(along_exp, -0.3 * u)
    assert manifold.off_point(x).max() < 1e-13
    assert manifold.off_point(along_exp).max() < 1e-13
