"""Standard normals by Box and Muller (1958), each the same in any company."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats
from driftfold.lanes import whole_vectors
from driftfold.native import drawer
from driftfold.philox import fractions

Counters = npt.NDArray[np.uint64]


def normals(
    key: int, clients: Counters, visits: Counters, purposes: Sequence[int], count: int
) -> Floats:
    """Standard normals of each row for each of m purposes, shape (m, k, count); see `philox`.

    Two fractions u, v give sqrt(-2 log(1 - u)) (cos 2 pi v, sin 2 pi v).

    >>> zero = np.zeros(1, np.uint64)
    >>> normals(0, zero, zero, [0], count=3).round(4)
    array([[[-1.625 , -1.2683,  0.9226]]])
    """
    rows, pairs = len(clients), -(-count // 2)
    each, size = rows * pairs, len(purposes) * rows * pairs
    rest, angles = polar = np.ones((2, whole_vectors(size)))
    drawn = drawer()
    for place, purpose in enumerate(purposes):
        some = polar[:, place * each : (place + 1) * each]
        if drawn is not None:
            drawn.polar(key, clients, visits, purpose, pairs, *some)
        else:
            uniform = fractions(key, clients, visits, purpose, 2 * pairs).reshape(each, 2)
            some[0] = 1 - uniform[:, 0]
            some[1] = 2 * np.pi * uniform[:, 1]
    radii = np.log(rest, out=rest)
    radii *= -2
    np.sqrt(radii, out=radii)
    shape = len(purposes), rows, pairs
    first = (radii * np.cos(angles))[:size].reshape(shape)
    if count == 1:
        return first
    normal = np.empty((*shape, 2))
    normal[..., 0] = first
    normal[..., 1] = (radii * np.sin(angles))[:size].reshape(shape)
    return normal.reshape(*shape[:2], 2 * pairs)[..., :count]
