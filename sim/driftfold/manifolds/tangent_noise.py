"""Gaussian noise in a tangent space: the same in all directions of the metric."""

from typing import Any

from driftfold.arrays import Array
from driftfold.errors import CapabilityError
from driftfold.manifolds.base import Framed, Manifold
from driftfold.rng import Draw


def framed_space(space: Manifold, who: str) -> Framed:
    """Return `space` if it has orthonormal frames, else raise `CapabilityError` for `who`."""
    if not isinstance(space, Framed):
        raise CapabilityError(
            f"{who} needs orthonormal frames of tangent spaces, which {type(space).__name__} has "
            "not; choose another manifold"
        )
    return space


def tangent_noise(space: Framed, x: Array, std: float, draw: Draw, dtype: Any) -> Array:
    """Vectors in T_x M with normal coordinates of standard deviation std, shape (..., *shape).

    >>> import numpy as np
    >>> from driftfold.manifolds import Spd
    >>> tangent_noise(Spd(2), np.eye(2), 0.5, np.ones, np.float64).round(3)
    array([[0.5  , 0.354],
           [0.354, 0.5  ]])
    """
    return space.from_coordinates(x, (std * draw(space.dimension)).astype(dtype))
