"""Every registered manifold kind keeps the contract of its family."""

import numpy as np
import pytest

import driftfold.manifolds
from driftfold.arrays import Array
from driftfold.manifolds import (
    Euclidean,
    GeooptSphere,
    GeooptStiefel,
    Lorentz,
    Manifold,
    Poincare,
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
    *(Lorentz(dim, transport) for dim in (1, 2, 10) for transport in ("parallel", "projection")),
    *(Poincare(dim) for dim in (1, 2, 10)),
    *(Spd(n, retraction) for n in (1, 2, 8) for retraction in ("exp", "second_order")),
    Spd(3, transport_by="path"),
    Product({"only": Lorentz(2)}),
    Product({"b": Sphere(4), "a": Spd(2), "c": Euclidean(2, 2)}),
    Product({"b": Sphere(4), "a": Stiefel(2, 4)}),
    GeooptStiefel(3, 8),
    GeooptSphere(6),
]


@pytest.mark.parametrize("manifold", EXAMPLES, ids=repr)
def test_keeps_the_contract(manifold: Manifold) -> None:
    check_manifold(manifold)


def test_every_kind_is_tried() -> None:
    assert {kind_of(manifold) for manifold in EXAMPLES} == set(own_kinds("manifold"))


def test_all_names_are_exported() -> None:
    classes = {lookup("manifold", kind_of(manifold)).__name__ for manifold in EXAMPLES}
    assert classes <= set(driftfold.manifolds.__all__)


class Flawed(Euclidean):
    """Each flaw is one that the check must find."""

    def __init__(self, flaw: str) -> None:
        super().__init__(6)
        object.__setattr__(self, "flaw", flaw)

    def __getattribute__(self, name: str) -> object:
        get = object.__getattribute__
        flawed = name == get(self, "__dict__").get("flaw")
        return get(self, f"flawed_{name}" if flawed else name)

    def flawed_retract(self, x: Array, u: Array) -> Array:
        return x + 1.01 * u

    def flawed_transport(self, x: Array, y: Array, u: Array) -> Array:
        return u + (y - x)

    def flawed_project(self, x: Array, v: Array) -> Array:
        return v + 0.01 * v

    def flawed_exp(self, x: Array, u: Array) -> Array:
        u *= 1.0
        x += u
        return x

    def flawed_log(self, x: Array, y: Array) -> Array:
        return (y - x) * (1 + 1e-6)

    def flawed_dist(self, x: Array, y: Array) -> Array:
        return np.sqrt(np.sum((x - y) ** 2)) * np.ones(x.shape[0])

    def flawed_inner(self, x: Array, u: Array, v: Array) -> Array:
        products = np.sum(u * v, axis=-1)
        return products * (1 + 1e-15 * len(products))

    def flawed_off_point(self, x: Array) -> Array:
        return np.zeros(x.shape)


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("retract", "retract is not of first order"),
        ("transport", "transport is linear"),
        ("project", "project twice"),
        ("exp", "exp"),
        ("log", "log undoes the map"),
        ("dist", "dist"),
        ("inner", "last bits"),
        ("off_point", "one number a point"),
    ],
)
def test_the_check_finds_a_flaw(flaw: str, message: str) -> None:
    check_manifold(Flawed("none"))
    with pytest.raises(AssertionError, match=message):
        check_manifold(Flawed(flaw))
