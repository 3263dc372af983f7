"""What follows from the principal angles of two subspaces: logarithm, distance, transports.

Points are orthonormal rows, shape (..., r, d). With the singular values X^T Y = P cos(theta) Q^T of
the d x r bases, P^T x and Q^T y are the principal rows, and Y Q P^T the basis of the second
subspace that is aligned with X. No angle is the arc cosine of a number near 1, and no row is
divided by a small sine: subspaces may be 1e-12 apart, angles may be equal, zero, or pi/2. At pi/2
there are several shortest geodesics and one of them is taken; for angles just below, the direction
of the geodesic (not where it leads to) is known to eps / cos(theta) only.
"""

from typing import NamedTuple

from driftfold.arrays import Array, array_namespace
from driftfold.lanes import in_whole_vectors
from driftfold.manifolds.small_matrices import svd


class _Planes(NamedTuple):
    """Principal planes of x and y: P, the cosines, and the parts of the rows Q^T y beside x."""

    p: Array
    cosines: Array
    beside: Array


def log(x: Array, y: Array) -> Array:
    """Initial velocity at x of a shortest geodesic to the subspace of y, horizontal.

    >>> import numpy as np
    >>> log(np.array([[1.0, 0.0]]), np.array([[0.0, -1.0]])).round(3) + 0.0
    array([[ 0.   , -1.571]])
    """
    xp = array_namespace(x, y)
    planes = _planes(x, y)
    sines = _lengths(planes.beside)
    angles = in_whole_vectors(xp.atan2, sines, planes.cosines)
    ratio = angles / xp.where(sines > 0, sines, xp.ones_like(sines))
    ratio = xp.where(sines > 0, ratio, 1 + angles)
    return planes.p @ (ratio[..., None] * planes.beside)


def dist(x: Array, y: Array) -> Array:
    """Length of the shortest geodesic, the root of the sum of squared angles, shape (...).

    >>> import numpy as np
    >>> dist(np.eye(2, 4), np.eye(2, 4)[:, ::-1]).round(6) == round(np.pi / 2**0.5, 6)
    np.True_
    """
    xp = array_namespace(x, y)
    planes = _planes(x, y)
    angles = in_whole_vectors(xp.atan2, _lengths(planes.beside), planes.cosines)
    return xp.sum(angles * angles, axis=-1) ** 0.5


def inverse_cayley(x: Array, y: Array) -> Array:
    """Horizontal vector whose Cayley retraction from x spans the subspace of y.

    2 (Y - X C) (I + C)^-1 for the aligned Y, C = X^T Y; of length 2 tan(theta/2) in each plane.
    """
    planes = _planes(x, y)
    return planes.p @ (2 / (1 + planes.cosines)[..., None] * planes.beside)


def turn(x: Array, y: Array, v: Array) -> Array:
    """Carry horizontal v at x to y by the rotation that takes each principal row to its mate.

    That is parallel transport along the shortest geodesic, and the isometric transport of the
    Cayley retraction as well: V - (X + Y) (I + X^T Y)^-1 Y^T V for the aligned Y, the result
    expressed in the basis y itself.
    """
    p, cosines, qt = svd(x @ y.mT)
    align = qt.mT @ p.mT
    along = ((align @ (v @ y.mT)) @ qt.mT) / (1 + cosines)[..., None, :]
    carried = align @ v
    carried -= (along @ p.mT) @ x
    carried -= (along @ qt) @ y
    return carried


def aligned(x: Array, y: Array, v: Array) -> Array:
    """Express v, given in the basis x, in the basis y aligned with it; still horizontal at x."""
    p, _, qt = svd(x @ y.mT)
    return (qt.mT @ p.mT) @ v


def _planes(x: Array, y: Array) -> _Planes:
    p, cosines, qt = svd(x @ y.mT)
    step = qt @ y
    step -= p.mT @ x
    step -= (step @ x.mT) @ x
    return _Planes(p, cosines, step)


def _lengths(rows: Array) -> Array:
    return array_namespace(rows).vecdot(rows, rows) ** 0.5
