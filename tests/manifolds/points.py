"""Points and tangent vectors for the tests of manifolds."""

import numpy as np

from driftfold.arrays import Array
from driftfold.manifolds import Manifold
from driftfold.rng import Seed

STREAM = Seed(20261129).stream("points")


def points(manifold: Manifold, count: int, start: int = 0) -> Array:
    """`count` random points."""
    return manifold.random_point(STREAM, np.arange(start, start + count))


def ambient(manifold: Manifold, count: int, visit: int = 1) -> Array:
    """`count` Gaussian arrays of the shape of a point."""
    drawn = STREAM.normal(np.arange(count), visit, int(np.prod(manifold.shape)))
    return drawn.reshape(count, *manifold.shape)


def tangents(manifold: Manifold, x: Array, length: float, visit: int = 2) -> Array:
    """Random tangent vectors at x of the given length."""
    u = manifold.project(x, ambient(manifold, len(x), visit))
    norm = manifold.norm(x, u).reshape(-1, *(1,) * len(manifold.shape))
    return u * (length / norm)
