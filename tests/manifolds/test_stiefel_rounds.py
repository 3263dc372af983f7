"""Points stay orthonormal over 10,000 rounds, also under maps that never orthonormalise."""

import numpy as np
import pytest

from driftfold.manifolds import Grassmann, Manifold, Stiefel
from tests.manifolds.points import ambient, points

ROUNDS = 10_000


@pytest.mark.parametrize(
    "manifold",
    [
        Grassmann(3, 8, "cayley"),
        *(
            pytest.param(m, marks=pytest.mark.slow)
            for m in (
                Stiefel(3, 8, "cayley", "canonical"),
                Stiefel(3, 8, "qr"),
                Stiefel(3, 8, "polar"),
                Grassmann(3, 8, "exp"),
                Grassmann(3, 8, "qr"),
                Grassmann(3, 8, "polar"),
            )
        ),
    ],
    ids=repr,
)
def test_points_stay_orthonormal_and_steps_tangent(manifold: Manifold) -> None:
    x = points(manifold, 8)
    steps = [0.1 * ambient(manifold, 8, visit=30 + k) for k in range(50)]
    for t in range(ROUNDS):
        u = manifold.project(x, steps[t % 50])
        x = manifold.retract(x, u)
    # A random walk of roundings would end at 1e-14, their plain sum at some 1e-12.
    assert manifold.off_point(x).max() < 1e-11
    u = manifold.project(x, steps[0])
    assert manifold.off_tangent(x, u).max() < 1e-11
    assert np.abs(manifold.project(x, u) - u).max() < 1e-11
