"""Squared lengths by factor: what takes the place of a square by coordinates on a manifold."""

import numpy as np

from driftfold.arrays import Array, along
from driftfold.manifolds.base import Manifold
from driftfold.manifolds.euclidean import Euclidean
from driftfold.manifolds.power import Power
from driftfold.manifolds.product import Product


def factor_squares(manifold: Manifold, x: Array, v: Array) -> Array:
    """Square of each entry of v in T_x M, or of the factor it belongs to: the shape of v.

    Entries of a Euclidean factor are squared one by one. All entries of a curved factor, one of a
    product or one of the points of a power, get its squared length, so a vector that is divided by
    them remains tangent.

    >>> from driftfold.manifolds import Sphere
    >>> two = Product({"flat": Euclidean(2), "sphere": Sphere(3)})
    >>> x, v = np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.array([1.0, 2.0, 0.0, 3.0, 4.0])
    >>> factor_squares(two, x, v)
    array([ 1.,  4., 25., 25., 25.])
    """
    if isinstance(manifold, Euclidean):
        return v * v
    if isinstance(manifold, Product):
        points, vectors = manifold.split(x), manifold.split(v)
        return manifold.join(
            {name: factor_squares(f, points[name], vectors[name])
             for name, f in manifold.factors.items()}
        )  # fmt: skip
    if isinstance(manifold, Power):  # its points are leading axes to the base
        return factor_squares(manifold.base, x, v)
    squares = manifold.inner(x, v, v)
    return np.broadcast_to(along(squares, v), v.shape)
