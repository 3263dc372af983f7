"""Transcendental functions whose bits do not depend on the array around a value.

Libraries may compute the last few elements of an array on another path than the rest, with another
last bit. A client's delay would then depend on who else is asked about; so arrays are padded to
whole vectors.
"""

from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

import numpy as np

from driftfold.arrays import Array, array_namespace

A = TypeVar("A")

_LANES = 64


def whole_vectors(size: int) -> int:
    """Return the length of an array in which `size` values are in whole vectors.

    >>> whole_vectors(65)
    128
    """
    return -(-size // _LANES) * _LANES


def in_whole_vectors(fn: Callable[..., Any], *x: A) -> A:
    """Apply the elementwise `fn` to arrays of one shape, each value as in any other array.

    The arrays are of NumPy or torch, the padding is 1.

    >>> x = np.linspace(0.0, 1.0, 100)
    >>> alone = [float(in_whole_vectors(np.exp, x[i : i + 1])[0]) for i in range(100)]
    >>> alone == in_whole_vectors(np.exp, x).tolist()
    True
    """
    first: Array = x[0]
    size = prod(first.shape)
    length = whole_vectors(size)
    values: A = fn(*(_padded(array, size, length) for array in x))[:size].reshape(first.shape)
    return values


def _padded(array: Array, size: int, length: int) -> Array:
    if isinstance(array, np.ndarray | np.generic):
        padded = np.empty(length, array.dtype)
    else:
        padded = array_namespace(array).empty(length, dtype=array.dtype, device=array.device)
    padded[:size] = array.reshape(-1)
    padded[size:] = 1
    return padded
