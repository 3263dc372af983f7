"""Gaussian vectors: no use of data at all."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from driftfold.arrays import Array
from driftfold.attacks.base import Attack
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.tangent_noise import framed_space, tangent_noise
from driftfold.registry import register
from driftfold.rng import Draw


@register("gaussian")
@dataclass(frozen=True)
class Gaussian(Attack):
    """A vector of independent normal coordinates in an orthonormal frame, in place of u.

    Attributes
    ----------
    std
        Standard deviation of each coordinate.

    >>> import numpy as np
    >>> from driftfold.manifolds import Sphere
    >>> x = np.array([1.0, 0.0, 0.0])
    >>> Gaussian(std=2.0).corrupt(Sphere(3), x, 0 * x, np.ones).round(12).tolist()
    [0.0, 2.0, 2.0]
    """

    std: Annotated[float, Gt(0)] = 1.0

    def check(self, space: Manifold) -> None:
        """Require orthonormal frames."""
        framed_space(space, "attack 'gaussian'")

    def corrupt(self, space: Manifold, x: Array, u: Array, draw: Draw) -> Array:
        """Noise of its own, at x."""
        return tangent_noise(framed_space(space, "attack 'gaussian'"), x, self.std, draw, u.dtype)
