"""Standard normals by Box and Muller (1958), each the same in any company."""

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats
from driftfold.lanes import whole_vectors
from driftfold.native import drawer
from driftfold.philox import fractions

Counters = npt.NDArray[np.uint64]


def normals(key: int, clients: Counters, visits: Counters, purpose: int, count: int) -> Floats:
    """Standard normals of each row, shape (k, count); arguments as in `philox`.

    Two fractions u, v give sqrt(-2 log(1 - u)) (cos 2 pi v, sin 2 pi v).

    >>> zero = np.zeros(1, np.uint64)
    >>> normals(0, zero, zero, 0, count=3).round(4)
    array([[-1.6238, -1.2708, -0.9171]])
    """
    rows, pairs = len(clients), -(-count // 2)
    size = rows * pairs
    rest, angles = np.ones((2, whole_vectors(size)))
    drawn = drawer()
    if drawn is not None:
        drawn.polar(key, clients, visits, purpose, pairs, rest, angles)
    else:
        uniform = fractions(key, clients, visits, purpose, 2 * pairs).reshape(size, 2)
        rest[:size] = 1 - uniform[:, 0]
        angles[:size] = 2 * np.pi * uniform[:, 1]
    radii = np.log(rest, out=rest)
    radii *= -2
    np.sqrt(radii, out=radii)
    first = (radii * np.cos(angles))[:size].reshape(rows, pairs)
    if count == 1:
        return first
    normal = np.empty((rows, pairs, 2))
    normal[..., 0] = first
    normal[..., 1] = (radii * np.sin(angles))[:size].reshape(rows, pairs)
    return normal.reshape(rows, 2 * pairs)[:, :count]
