"""The manifolds of tasks whose points are matrices with orthonormal rows."""

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.manifolds.base import Manifold
from driftfold.rng import Seed

_TOLERANCE = 1e-4  # manifolds of single precision are not exact; others miss by 0.1 and more


def with_orthonormal_rows(manifold: Manifold, sizes: str, *shapes: tuple[int, ...]) -> Manifold:
    """Return the manifold if its points have one of the shapes and orthonormal rows.

    Points of shape (d,) are one row. The rows are those of a random point: a manifold whose points
    need not be orthonormal has none that is by chance. `sizes` says in words what needs the shapes.

    Raises
    ------
    SpecError
        Points have another shape, or rows that are not orthonormal.

    Examples
    --------
    >>> from driftfold.manifolds import Euclidean, Sphere, Stiefel
    >>> with_orthonormal_rows(Sphere(5), "sizes", (1, 5), (5,)).shape
    (5,)
    >>> with_orthonormal_rows(Stiefel(2, 6), "sizes", (2, 5))
    Traceback (most recent call last):
    driftfold.errors.SpecError: points of the manifold have shape (2, 6), but sizes need ...
    >>> with_orthonormal_rows(Euclidean(2, 5), "sizes", (2, 5))
    Traceback (most recent call last):
    driftfold.errors.SpecError: points of Euclidean(...) do not have orthonormal rows: ...
    """
    if manifold.shape not in shapes:
        raise SpecError(
            f"points of the manifold have shape {manifold.shape}, but {sizes} need "
            f"{' or '.join(map(str, shapes))}; leave the manifold out or change its size"
        )
    stream = Seed(0).stream("orthonormal rows")
    x: Array = np.asarray(manifold.random_point(stream, np.zeros(1, dtype=np.int64)))[0]
    rows = x.reshape(-1, x.shape[-1])
    off = float(np.abs(rows @ rows.T - np.eye(len(rows))).max())
    if not off <= _TOLERANCE:
        raise SpecError(
            f"points of {manifold!r} do not have orthonormal rows: x x^T of a random one is "
            f"{off:.2g} from the identity; leave the manifold out, or use 'stiefel' or 'grassmann'"
        )
    return manifold
