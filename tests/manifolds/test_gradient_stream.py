"""Gradient streams: projecting once is projecting each time; flat streams are displacements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Array
from driftfold.manifolds import Euclidean, GradientStream, Manifold, Sphere, Stiefel
from tests.manifolds.points import ambient, points

STEP = 0.1


def walk(manifold: Manifold, x: Array, steps: int) -> list[tuple[Array, Array]]:
    """Points and gradients of a few descent steps on random linear functions."""
    path = []
    for k in range(steps):
        g = manifold.gradient(x, ambient(manifold, len(x), visit=10 + k))
        path.append((x, g))
        x = manifold.retract(x, -STEP * g)
    return [*path, (x, 0 * x)]


@pytest.mark.parametrize(
    "manifold",
    [Stiefel(3, 9), Stiefel(1, 5, "polar"), Sphere(5, transport_by="projection"), Euclidean(4)],
    ids=repr,
)
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_projecting_once_is_projecting_each_time(manifold: Manifold, steps: int) -> None:
    x = points(manifold, 7)
    once, each = manifold.gradient_stream(x), GradientStream(manifold, x)
    assert type(once) is not GradientStream
    path = walk(manifold, x, steps)[:-1]
    before = [g.copy() for _, g in path]
    for point, g in path:
        once.add(point, g)
        each.add(point, g)
    # sums of a few numbers of size 1
    np.testing.assert_allclose(once.total(), each.total(), rtol=0, atol=2e-14)
    assert manifold.off_tangent(x, once.total()).max() < 2e-14
    assert once.total().tobytes() == once.total().tobytes()
    for (_, g), kept in zip(path, before, strict=True):
        assert np.array_equal(g, kept), "a stream must not write into what it was given"


def test_parallel_streams_transport_each_gradient() -> None:
    sphere = Sphere(5)
    x = points(sphere, 7)
    stream = sphere.gradient_stream(x)
    expected = 0 * x
    for k, (point, g) in enumerate(walk(sphere, x, 4)[:-1]):
        stream.add(point, g)
        expected = expected + (g if k == 0 else sphere.transport(point, x, g))
    assert np.array_equal(stream.total(), expected)


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    steps=st.integers(1, 6),
    clients=st.integers(1, 5),
)
def test_flat_streams_are_displacements(sizes: list[int], steps: int, clients: int) -> None:
    # On flat space averaging gradient streams is averaging end points, that is FedAvg.
    flat = Euclidean(*sizes)
    x = points(flat, clients)
    path = walk(flat, x, steps)
    stream = flat.gradient_stream(x)
    for point, g in path[:-1]:
        stream.add(point, g)
    end = path[-1][0]
    np.testing.assert_allclose(flat.retract(x, -STEP * stream.total()), end, rtol=0, atol=1e-13)


def test_one_origin_for_many_clients() -> None:
    stiefel = Stiefel(2, 6)
    origin = points(stiefel, 1)[0]
    stream = stiefel.gradient_stream(origin)
    first = stiefel.gradient(origin, ambient(stiefel, 1)[0])
    many = stiefel.gradient(origin, ambient(stiefel, 4))
    stream.add(origin, first)
    stream.add(origin, many)
    stream.add(origin, first)
    np.testing.assert_allclose(stream.total(), many + 2 * first, rtol=0, atol=1e-14)


def test_an_empty_stream_has_no_total() -> None:
    for manifold in (Sphere(3), Stiefel(1, 3)):
        with pytest.raises(ValueError, match="add at least one gradient"):
            manifold.gradient_stream(points(manifold, 1)).total()
