"""Functions of stacks of symmetric matrices, each item's bits its own; NaN where one is broken."""

from collections.abc import Callable

from array_api_compat import array_namespace

from driftfold.arrays import Array
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
        return _composed(vectors, in_whole_vectors(f, values))

    return by_item(apply, s)


def of_square(b: Array, f: Elementwise) -> Array:
    """U f(sigma) U^T for b = U diag(sigma) V^T: a function of (b b^T)^(1/2), shape (..., n, n).

    Singular values keep twice the digits that eigenvalues of b b^T would.

    >>> import numpy as np
    >>> of_square(np.diag([1.0, 1e-12]), np.log).round(3) + 0.0
    array([[  0.   ,   0.   ],
           [  0.   , -27.631]])
    """

    def apply(a: Array) -> Array:
        vectors, values, _ = array_namespace(a).linalg.svd(a, full_matrices=False)
        return _composed(vectors, in_whole_vectors(f, values))

    return by_item(apply, b)


def polar(b: Array) -> Array:
    """Orthogonal polar factor U V^T of b = U diag(sigma) V^T, shape (..., n, n)."""

    def apply(a: Array) -> Array:
        left, _, right = array_namespace(a).linalg.svd(a, full_matrices=False)
        return left @ right

    return by_item(apply, b)


def singular_values(b: Array) -> Array:
    """Singular values, largest first, shape (..., n)."""

    def values(a: Array) -> Array:
        return array_namespace(a).linalg.svdvals(a)[..., None]

    return by_item(values, b)[..., 0]


def _composed(vectors: Array, values: Array) -> Array:
    return symmetric_part((vectors * values[..., None, :]) @ vectors.mT)
