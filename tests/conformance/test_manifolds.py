"""Every registered manifold kind keeps the contract of its family."""

from collections.abc import Callable

import numpy as np
import pytest

import driftfold.manifolds
from driftfold.arrays import Array
from driftfold.manifolds import (
    Euclidean,
    GeooptPoincare,
    GeooptSpd,
    GeooptSphere,
    GeooptStiefel,
    GradientStream,
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
from driftfold.registry import kind_of, lookup
from driftfold.testing.manifold import check_manifold
from tests.modules import own_kinds

EXAMPLES: list[Manifold] = [
    Euclidean(7),
    Euclidean(3, 4),
    *(
        Sphere(size, retraction, transport)
        for size in (2, 11, 100)
        for retraction in ("exp", "normalise")
        for transport in ("parallel", "projection")
    ),
    *(
        Stiefel(r, d, retraction)
        for r, d in ((1, 9), (3, 3), (5, 100), (14, 20))
        for retraction in ("qr", "polar")
    ),
    Stiefel(1, 9, "cayley", "canonical", "cayley"),
    Stiefel(3, 3, "cayley", "canonical", "cayley"),
    Stiefel(5, 100, "qr", "canonical", "projection"),
    Stiefel(5, 100, "cayley", "canonical", "cayley"),
    Stiefel(4, 7, "cayley", transport_by="cayley"),
    Grassmann(1, 2),
    *(Grassmann(5, 30, retraction) for retraction in ("cayley", "qr", "polar", "exp")),
    Grassmann(14, 20, transport_by="parallel"),
    Grassmann(2, 7, transport_by="projection"),
    *(Grassmann(2, 7, transport_by=by, gauge="paper") for by in ("cayley", "projection")),
    *(Lorentz(dim, transport) for dim in (1, 2, 10) for transport in ("parallel", "projection")),
    *(Poincare(dim) for dim in (1, 2, 10)),
    *(Spd(n, retraction) for n in (1, 2, 8) for retraction in ("exp", "second_order")),
    Spd(3, transport_by="path"),
    Product({"only": Lorentz(2)}),
    Product({"b": Sphere(4), "a": Spd(2), "c": Euclidean(2, 2)}),
    Product({"b": Sphere(4), "a": Stiefel(2, 4)}),
    Power(Lorentz(2), 4),
    Power(Stiefel(2, 4), 2),
    GeooptStiefel(3, 8),
    GeooptSphere(6),
    GeooptPoincare(3),
    GeooptSpd(4),
]


@pytest.mark.parametrize("manifold", EXAMPLES, ids=repr)
def test_keeps_the_contract(manifold: Manifold) -> None:
    """T10 and T11 of RFedAGS's theory are part of it."""
    check_manifold(manifold)


def test_every_kind_is_tried() -> None:
    assert {kind_of(manifold) for manifold in EXAMPLES} == set(own_kinds("manifold"))


def test_all_names_are_exported() -> None:
    classes = {lookup("manifold", kind_of(manifold)).__name__ for manifold in EXAMPLES}
    assert classes <= set(driftfold.manifolds.__all__)


class Flawed(Euclidean):
    """A Euclidean space with one method replaced."""

    def __init__(self, method: str, replacement: Callable[..., Array]) -> None:
        super().__init__(6)
        object.__setattr__(self, method, replacement)

    def gradient_stream(self, origin: Array) -> GradientStream:
        return GradientStream(self, origin)


def careless(x: Array, u: Array) -> Array:
    u *= 1.0
    x += u
    return x


def by_company(x: Array, u: Array, v: Array) -> Array:
    products = np.sum(u * v, axis=-1)
    return products * (1 + 1e-15 * len(products))


def clamped(x: Array, y: Array) -> Array:
    return (y - x) * (np.abs(y - x).max(-1, keepdims=True) > 1e-6)


@pytest.mark.parametrize(
    ("method", "replacement", "message"),
    [
        ("retract", lambda x, u: x + 1.01 * u, "retract is not of first order"),
        ("transport", lambda x, y, u: u + (y - x), "transport is linear"),
        ("transport", lambda x, y, u: u * (1 + (y - x)), "transport is isometric"),
        ("transport", lambda x, y, u: np.where(y != x, u[..., ::-1], u), "velocity"),
        ("project", lambda x, v: v + 0.01 * v, "project twice"),
        ("project", lambda x, v: v * np.float64(1), "project of float32 arrays gave float64"),
        ("gradient", lambda x, g: g + x, "gradient represents g"),
        ("nearest", lambda y: 0.9 * y, "nearest of a point of the manifold"),
        ("coordinates", lambda x, u: 1.01 * u, "coordinates are isometric"),
        ("coordinates", lambda x, u: u * (1 + abs(u)), "coordinates are"),
        ("from_coordinates", lambda x, c: c[..., ::-1], "vector of the coordinates"),
        ("exp", careless, "exp"),
        ("log", lambda x, y: (y - x) * (1 + 1e-6), "log undoes the map"),
        ("log", clamped, "log of a step of 1e-8"),
        ("dist", lambda x, y: np.sqrt(np.sum((x - y) ** 2)) * np.ones(len(x)), "dist"),
        ("dist", lambda x, y: np.maximum(np.linalg.norm(x - y, axis=-1), 5e-8), "dist"),
        ("inner", by_company, "last bits"),
        ("off_point", lambda x: np.zeros(x.shape), "one number a point"),
    ],
)
def test_the_check_finds_a_flaw(
    method: str, replacement: Callable[..., Array], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        check_manifold(Flawed(method, replacement))


def test_the_check_finds_no_flaw_where_none_is() -> None:
    check_manifold(Flawed("project", lambda x, v: v))


@pytest.mark.parametrize("manifold", [Stiefel(1, 1), Power(Stiefel(1, 1), 3)])
def test_isolated_points_have_only_the_zero_vector(manifold: Manifold) -> None:
    check_manifold(manifold)
