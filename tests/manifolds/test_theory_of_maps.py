"""T10 and T11 of RFedAGS's theory: what it asks of transports and retractions, on every manifold.

`check_manifold` asks it, and more, of each registered kind; this says it in the paper's words.
"""

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.manifolds import (
    Euclidean,
    Exponential,
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
from tests.manifolds.points import points, tangents

MANIFOLDS: list[Manifold] = [
    Euclidean(4),
    *(Sphere(5, by, along) for by in ("exp", "normalise") for along in ("parallel", "projection")),
    *(
        Stiefel(2, 5, by, metric, along)
        for by in ("qr", "polar", "cayley")
        for metric in ("euclidean", "canonical")
        for along in ("projection", "cayley")
        if (by, metric) == ("cayley", "canonical") or along == "projection"
    ),
    *(Grassmann(2, 5, by) for by in ("cayley", "qr", "polar", "exp")),
    *(Grassmann(2, 5, transport_by=along) for along in ("parallel", "projection")),
    *(Spd(3, by, along) for by in ("exp", "second_order") for along in ("parallel", "path")),
    *(Lorentz(3, along) for along in ("parallel", "projection")),
    Poincare(3),
    Product({"a": Sphere(3), "b": Spd(2), "c": Lorentz(2), "d": Stiefel(2, 4)}),
    Power(Sphere(3), 2),
]
CASES = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
STEPS = np.array([1e-2, 3e-3, 1e-3])
COUNT = 4


def moved(manifold: Manifold, x: Array, length: float) -> Array:
    return manifold.retract(x, tangents(manifold, x, length, visit=5))


@CASES
def test_transports(manifold: Manifold) -> None:
    """T10: identity at the point itself, tangent at the target, linear, isometric where claimed.

    Vectors of length 1 between points 0.5 apart: a few tens of roundings, of numbers up to 10.
    """
    m, x = manifold, points(manifold, COUNT)
    y = moved(m, x, 0.5)
    u, v = (tangents(m, x, 1.0, visit) for visit in (2, 3))
    np.testing.assert_allclose(m.transport(x, x, u), u, rtol=0, atol=1e-13)
    there, other = m.transport(x, y, u), m.transport(x, y, v)
    assert m.off_tangent(y, there).max() < 1e-13
    both = m.transport(x, y, 2 * u - 3 * v)
    np.testing.assert_allclose(both, 2 * there - 3 * other, rtol=0, atol=1e-13)
    off = np.abs(m.inner(y, there, other) - m.inner(x, u, v)).max()
    assert off < 1e-12 if m.isometric else off > 1e-6
    # Bounded in any case: no more than twice as long.
    assert m.norm(y, there).max() < 2


def test_some_transports_are_isometric_and_some_are_not() -> None:
    assert {m.isometric for m in MANIFOLDS} == {True, False}


@CASES
def test_retractions(manifold: Manifold) -> None:
    """T11: R_x(0) = x and dR_x(0) = id; what is left of a step of length h falls as h^2, or faster.

    Differences of stored points, whose velocity along u is `displacement`.
    """
    m, x = manifold, points(manifold, COUNT)
    u = tangents(m, x, 1.0)
    along = m.displacement(x, u)
    maps = [m.retract, m.exp] if isinstance(m, Exponential) else [m.retract]
    for move in maps:
        np.testing.assert_allclose(move(x, 0 * u), x, rtol=0, atol=1e-14)
        errors = [np.abs(move(x, h * u) - x - h * along).max() for h in STEPS]
        if isinstance(m, Euclidean):
            assert max(errors) < 1e-15
            continue
        slope = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
        assert slope > 1.95
