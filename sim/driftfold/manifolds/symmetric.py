"""Functions of stacks of symmetric matrices, each item's bits its own; NaN where one is broken."""

from collections.abc import Callable

from driftfold.arrays import Array, array_namespace
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.small_matrices import by_item

Elementwise = Callable[[Array], Array]


def symmetric_part(m: Array) -> Array:
    """(m + m^T) / 2, shape (..., n, n)."""
    return (m + m.mT) / 2


def of_symmetric(s: Array, f: Elementwise) -> Array:
    """f(s) = V f(e) V^T for s = V diag(e) V^T, shape (..., n, n), symmetric.

    `f` acts on each eigenvalue; of what s has beyond its lower triangle nothing is read.

    >>> import numpy as np
    >>> of_symmetric(np.array([[0.0, 2.0], [2.0, 0.0]]), np.square).round(12)
    array([[4., 0.],
           [0., 4.]])
    """

    def apply(a: Array) -> Array:
        values, vectors = array_namespace(a).linalg.eigh(a)
        return composed(vectors, in_whole_vectors(f, values))

    return by_item(apply, s)


def composed(vectors: Array, values: Array) -> Array:
    """V diag(values) V^T, symmetric, shape (..., n, n)."""
    return symmetric_part((vectors * values[..., None, :]) @ vectors.mT)
