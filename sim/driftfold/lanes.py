"""Transcendental functions whose bits do not depend on the array around a value.

NumPy may compute the last few elements of an array on another path than the rest, with another
last bit. A client's delay would then depend on who else is asked about; so arrays are padded to
whole vectors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftfold.arrays import Floats

_LANES = 64


def in_whole_vectors(fn: Callable[[Floats], Any], x: Floats) -> Floats:
    """Apply the elementwise `fn` to `x` of any shape, each value as in any other array.

    >>> x = np.linspace(0.0, 1.0, 100)
    >>> alone = [float(in_whole_vectors(np.exp, x[i : i + 1])[0]) for i in range(100)]
    >>> alone == in_whole_vectors(np.exp, x).tolist()
    True
    """
    padded = np.ones(-(-x.size // _LANES) * _LANES)
    padded[: x.size] = x.reshape(-1)
    values: Floats = fn(padded)[: x.size].reshape(x.shape)
    return values
