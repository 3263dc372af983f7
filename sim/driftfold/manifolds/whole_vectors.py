"""Transcendental functions whose values do not depend on what else is in the array."""

from collections.abc import Callable
from math import prod

from array_api_compat import array_namespace

from driftfold.arrays import Array

_LANES = 64


def elementwise(function: Callable[..., Array], *arguments: Array) -> Array:
    """Apply `function` to arrays of equal shape, element by element, padded to whole vectors.

    Libraries compute the end of an array by other code than its body, so the last bit of a value
    may depend on where it stands. With a length that is a multiple of every vector width there is
    no such end.

    >>> import numpy as np
    >>> elementwise(np.exp, np.array([0.0, 1.0])).round(3)
    array([1.   , 2.718])
    """
    xp = array_namespace(*arguments)
    shape = arguments[0].shape
    size = prod(shape)
    padded = []
    for argument in arguments:
        flat = xp.ones(-(-size // _LANES) * _LANES, dtype=argument.dtype, device=argument.device)
        flat[:size] = argument.reshape(-1)
        padded.append(flat)
    return function(*padded)[:size].reshape(shape)
