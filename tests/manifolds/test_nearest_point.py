"""Nearest points against singular vectors, the only ways there are, and arrays that have many."""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import torch

from driftfold.manifolds import (
    Euclidean,
    Geodesic,
    InvertibleRetraction,
    NearestPoint,
    Power,
    Product,
    Spd,
    Sphere,
    Stiefel,
)

RNG = np.random.default_rng(4)


@pytest.mark.parametrize(("r", "d"), [(1, 6), (3, 3), (5, 40)])
def test_stiefel_is_the_polar_factor(r: int, d: int) -> None:
    y = RNG.standard_normal((7, r, d)) * np.array([1e-6, 1e-2, 1, 1, 1, 1e2, 1e6])[:, None, None]
    got = Stiefel(r, d).nearest(y)
    for one, point in zip(y, got, strict=True):
        # Rounding of an inverse root of condition up to 1e2.
        np.testing.assert_allclose(point, scipy.linalg.polar(one, "left")[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-8, 1e-14, 0.0])
def test_stiefel_near_and_at_the_loss_of_rank(gap: float) -> None:
    """|y - x|^2 = |y|^2 + r - 2 tr(x y^T), least at the sum of singular values."""
    u, v = scipy.linalg.orth(RNG.standard_normal((3, 3))), Stiefel(3, 8).nearest(np.eye(3, 8))
    y = u * [2.0, 1.0, gap] @ v
    x = Stiefel(3, 8).nearest(y)
    np.testing.assert_allclose(x @ x.T, np.eye(3), rtol=0, atol=1e-14)
    assert np.vdot(x, y) == pytest.approx(3 + gap, abs=1e-13)


def test_sphere_is_the_direction() -> None:
    y = RNG.standard_normal((5, 6)) * np.array([1e-300, 1e-9, 1.0, 1e9, 1e300])[:, None]
    wanted = [one / np.linalg.norm(one / abs(one).max()) / abs(one).max() for one in y]
    np.testing.assert_allclose(Sphere(6).nearest(y), wanted, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(Sphere(3).nearest(np.zeros((2, 3))), [[1, 0, 0]] * 2)


@pytest.mark.parametrize("manifold", [Sphere(4), Stiefel(2, 4), Euclidean(4)], ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_so_and_spoils_nothing_else(
    manifold: NearestPoint, bad: float
) -> None:
    y = RNG.standard_normal((3, *manifold.shape))
    y[1, ..., 0] = bad
    x = manifold.nearest(y)
    assert np.isfinite(x).reshape(3, -1).all(axis=1).tolist() == [True, False, True]


def test_torch_gives_the_same() -> None:
    y = RNG.standard_normal((3, 2, 5))
    for manifold, array in ((Stiefel(2, 5), y), (Sphere(5), y[:, 0])):
        got = manifold.nearest(torch.from_numpy(array))
        np.testing.assert_allclose(got.numpy(), manifold.nearest(array), rtol=0, atol=1e-14)


def test_products_and_powers_have_what_all_their_factors_have() -> None:
    both = Product({"a": Sphere(3), "b": Stiefel(2, 3)})
    assert isinstance(both, NearestPoint)
    assert isinstance(both, InvertibleRetraction)
    assert not isinstance(both, Geodesic)
    y = RNG.standard_normal((4, 9))
    parts = both.split(both.nearest(y))
    np.testing.assert_array_equal(parts["a"], Sphere(3).nearest(y[:, :3]))
    np.testing.assert_array_equal(parts["b"], Stiefel(2, 3).nearest(y[:, 3:].reshape(4, 2, 3)))
    power = Power(Stiefel(2, 3), 2)
    assert isinstance(power, NearestPoint)
    assert power == pickle.loads(pickle.dumps(power))
    assert not isinstance(Product({"a": Sphere(3), "b": Spd(2)}), NearestPoint)
    assert not isinstance(Power(Spd(2), 2), NearestPoint)


@pytest.mark.parametrize(
    ("manifold", "induced"),
    [
        (Stiefel(2, 4), True),
        (Stiefel(2, 4, metric="canonical"), False),
        (Product({"a": Sphere(3), "b": Stiefel(2, 4, metric="canonical")}), False),
        (Power(Stiefel(2, 4, metric="canonical"), 2), False),
        (Power(Sphere(3), 2), True),
    ],
)
def test_the_metric_is_told(manifold: Any, induced: bool) -> None:
    assert manifold.induced is induced
