"""Aliases for arrays, in one place.

`Array` is a NumPy array or, wherever the code only uses the array API standard, a torch tensor.
The standard has no static type that both satisfy, so the alias is `Any`; shapes are written in
docstrings. What is NumPy only (client ids, times, weights) uses the precise aliases.
"""

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = Any
"""A NumPy array or torch tensor; leading axes are batch."""

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def along(factors: Array, points: Array) -> Array:
    """View per-client factors so that they multiply points with the same leading axes.

    >>> along(np.ones(3), np.ones((3, 2, 5))).shape
    (3, 1, 1)
    """
    return factors.reshape(factors.shape + (1,) * (points.ndim - factors.ndim))


def empty_aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array to be filled that starts at a line of the cache, of 64 bytes.

    Elsewhere each vector a kernel loads may lie in two lines, which was measured to cost it 6%.

    >>> empty_aligned((3, 2), np.float32).ctypes.data % 64
    0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    made: npt.NDArray[Any] = room[start : start + size].view(dtype).reshape(shape)
    return made


def array_namespace(*arrays: Array) -> Any:
    """Functions of the array API standard for these arrays: NumPy's own, or `array_api_compat`'s.

    NumPy follows the standard by itself; what wraps it costs each process a tenth of a second, and
    each call on a small point as long as a product.

    >>> array_namespace(np.ones(2)).vecdot(np.ones(2), np.ones(2))
    np.float64(2.0)
    """
    for array in arrays:
        if not isinstance(array, _NUMPY):
            return _namespace_of_others(*arrays)
    return np


_NUMPY = (np.ndarray, np.generic)


def _namespace_of_others(*arrays: Array) -> Any:
    import array_api_compat

    return array_api_compat.array_namespace(*arrays)
