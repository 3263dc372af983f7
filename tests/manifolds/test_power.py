from typing import Any

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.manifolds import (
    Euclidean,
    Exponential,
    Geodesic,
    InvertibleRetraction,
    Lorentz,
    Manifold,
    Power,
    Spd,
    Sphere,
    Stiefel,
)
from driftfold.registry import kind_of
from driftfold.rng import Seed
from driftfold.spec.codec import decode, encode


@pytest.mark.parametrize("base", [Sphere(4), Stiefel(2, 5), Spd(2), Lorentz(3), Euclidean(2, 2)])
def test_a_power_can_do_what_its_base_can(base: Manifold) -> None:
    power = Power(base, 3)
    for capability in (InvertibleRetraction, Exponential, Geodesic):
        assert isinstance(power, capability) == isinstance(base, capability)
    assert kind_of(power) == "power"
    assert power.isometric == base.isometric


def test_each_part_moves_as_in_the_base() -> None:
    base = Lorentz(2)
    power: Any = Power(base, 5)
    x, y = power.random_point(Seed(1).stream("x"), np.arange(2))
    u = power.log(x, y)
    for k in range(5):
        assert np.array_equal(u[k], base.log(x[k], y[k]))
    parts = base.dist(x, y)
    assert abs(power.dist(x, y) - np.sqrt((parts**2).sum())) < 1e-14
    assert abs(power.norm(x, u) - power.dist(x, y)) < 1e-13
    assert len(np.unique(x[:, 0])) == 5  # no part is the copy of another


def test_streams_of_the_base_are_used() -> None:
    """With a projection as transport the sum is projected once, part by part."""
    base = Stiefel(2, 5)
    power = Power(base, 2)
    x, y, v = power.random_point(Seed(1).stream("x"), np.arange(3))
    g = power.project(y, v)
    stream = power.gradient_stream(x)
    stream.add(y, g)
    assert type(stream) is type(base.gradient_stream(x[0]))
    assert np.allclose(stream.total(), power.transport(y, x, g), atol=1e-14)


def test_powers_are_named_in_specifications() -> None:
    power = Power(Lorentz(2), 7)
    table = encode(power)
    assert decode(Manifold, table) == power
    assert decode(Manifold, {**table, "count": 8}) != power


def test_no_points_at_all_are_refused() -> None:
    with pytest.raises(SpecError, match="count >= 1, got 0"):
        Power(Lorentz(2), 0)
