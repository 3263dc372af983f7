"""The same code on torch tensors gives the same numbers, in both precisions."""

from typing import Any

import numpy as np
import pytest
import torch

from driftfold.arrays import Array
from driftfold.manifolds import (
    Euclidean,
    Exponential,
    Framed,
    Geodesic,
    GeooptPoincare,
    GeooptSpd,
    GeooptSphere,
    GeooptStiefel,
    Grassmann,
    InvertibleRetraction,
    Lorentz,
    Manifold,
    Poincare,
    Power,
    Product,
    Spd,
    Sphere,
    Stiefel,
)
from tests.manifolds.points import ambient, points, tangents

MANIFOLDS = [
    Euclidean(2, 3),
    Sphere(5),
    Sphere(5, "normalise", "projection"),
    Stiefel(3, 8),
    Stiefel(3, 8, "polar"),
    Stiefel(14, 20),
    Stiefel(3, 8, "cayley", "canonical", "cayley"),
    Grassmann(3, 8),
    Grassmann(3, 8, "exp", "projection"),
    Grassmann(3, 8, gauge="paper"),
    GeooptStiefel(3, 8),
    GeooptSphere(5),
    GeooptPoincare(3),
    GeooptSpd(3),
    Lorentz(4),
    Lorentz(4, "projection"),
    Poincare(4),
    Spd(3),
    Spd(3, "second_order", "path"),
    Product({"a": Sphere(3), "b": Spd(2)}),
    Power(Stiefel(2, 4), 2),
]


def every_map(m: Manifold, x: Any, y: Any, u: Any, g: Any) -> dict[str, Any]:
    stream = m.gradient_stream(x)
    for vector in (u, u, m.gradient(x, g)):
        stream.add(x, vector)
    values = {
        "inner": m.inner(x, u, u),
        "norm": m.norm(x, u),
        "project": m.project(x, g),
        "gradient": m.gradient(x, g),
        "retract": m.retract(x, u),
        "transport": m.transport(x, y, u),
        "off_point": m.off_point(1.01 * x),
        "off_tangent": m.off_tangent(x, g),
        "stream": stream.total(),
    }
    if isinstance(m, InvertibleRetraction):
        values["inverse_retract"] = m.inverse_retract(x, y)
    if isinstance(m, Framed):
        values["coordinates"] = m.coordinates(x, u)
        values["from_coordinates"] = m.from_coordinates(x, values["coordinates"])
    if isinstance(m, Exponential):
        values["exp"] = m.exp(x, u)
    if isinstance(m, Geodesic):
        values["log"], values["dist"] = m.log(x, y), m.dist(x, y)
    return values


def arguments(m: Manifold) -> tuple[Array, ...]:
    x = points(m, 9)
    u = tangents(m, x, 0.4)
    return x, m.retract(x, u), u, ambient(m, 9)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_torch_agrees_with_numpy(manifold: Manifold, dtype: type, tolerance: float) -> None:
    given = arguments(manifold)
    expected = every_map(manifold, *given)
    for convert in (np.asarray, torch.asarray):
        got = every_map(manifold, *(convert(a.astype(dtype)) for a in given))
        for name, value in got.items():
            assert isinstance(value, torch.Tensor if convert is torch.asarray else np.ndarray), name
            assert value.dtype == (convert(np.zeros(1, dtype))).dtype, name
            # single precision: eps is 1.2e-7, amplified by the inverse maps
            np.testing.assert_allclose(
                np.asarray(value), expected[name], rtol=0, atol=tolerance, err_msg=name
            )


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_single_points_and_deep_batches(manifold: Manifold) -> None:
    given = arguments(manifold)
    whole = every_map(manifold, *given)
    for convert in (np.asarray, torch.asarray):
        one = every_map(manifold, *(convert(a[4]) for a in given))
        deep = every_map(manifold, *(convert(a.reshape(3, 1, 3, *a.shape[1:])) for a in given))
        for name, expected in whole.items():
            np.testing.assert_allclose(
                np.asarray(one[name]), expected[4], rtol=0, atol=1e-13, err_msg=name
            )
            np.testing.assert_allclose(
                np.asarray(deep[name]).reshape(expected.shape), expected, rtol=0, atol=1e-13
            )
