"""geoopt at benign inputs, where it is right, agrees with our maps; and is imported only on use."""

import subprocess
import sys

import numpy as np
import pytest

from driftfold.manifolds import GeooptSphere, GeooptStiefel, Manifold, Sphere, Stiefel
from tests.manifolds.points import STREAM, ambient, points, tangents

PAIRS = [
    (GeooptStiefel(1, 6), Stiefel(1, 6)),
    (GeooptStiefel(4, 4), Stiefel(4, 4)),
    (GeooptStiefel(5, 30), Stiefel(5, 30)),
    (GeooptSphere(7), Sphere(7, "normalise", "projection")),
]


@pytest.mark.parametrize(("theirs", "ours"), PAIRS, ids=repr)
@pytest.mark.parametrize("length", [1e-6, 0.5, 3.0])
def test_agrees_with_our_maps(theirs: Manifold, ours: Manifold, length: float) -> None:
    x = points(ours, 8)
    u = tangents(ours, x, length)
    y, g = ours.retract(x, u), ambient(ours, 8)
    for name, arguments in {
        "inner": (x, u, g),
        "project": (x, g),
        "gradient": (x, g),
        "retract": (x, u),
        "transport": (x, y, u),
    }.items():
        got, expected = getattr(theirs, name)(*arguments), getattr(ours, name)(*arguments)
        # both sides err by some eps of numbers of size up to 10
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14 * (1 + length), err_msg=name)


@pytest.mark.parametrize(("theirs", "ours"), PAIRS, ids=repr)
def test_measures_how_far_off(theirs: Manifold, ours: Manifold) -> None:
    x = theirs.random_point(STREAM, np.arange(5))
    assert ours.off_point(x).max() < 1e-14
    # On the sphere both measure the normal part; on the Stiefel manifold it is sym(g x^T) x.
    g = ambient(ours, 5)
    np.testing.assert_allclose(theirs.off_tangent(x, g), ours.off_tangent(x, g), rtol=1e-12)


def test_importing_the_library_imports_neither_geoopt_nor_torch() -> None:
    code = (
        "import sys, numpy as np, driftfold.manifolds as m\n"
        "s, x = m.Stiefel(2, 4), np.eye(2, 4)\n"
        "s.retract(x, s.project(x, np.ones((2, 4)))); m.Sphere(4).exp(x[0], x[1])\n"
        "print([name for name in ('torch', 'geoopt', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
