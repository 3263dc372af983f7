"""Pictures of 8 bits a channel, as files and cameras have them."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Array, Floats

Bytes: TypeAlias = npt.NDArray[np.uint8]


def to_bytes(x: Array) -> Bytes:
    """Round values in [0, 1] to whole 255ths.

    >>> to_bytes(np.array([0.0, 0.5, 1.0]))
    array([  0, 128, 255], dtype=uint8)
    """
    return np.rint(255 * np.asarray(x, np.float64)).astype(np.uint8)


def from_bytes(x: Bytes) -> Floats:
    """Return values in [0, 1].

    >>> from_bytes(np.array([0, 51, 255], np.uint8))
    array([0. , 0.2, 1. ])
    """
    return x.astype(np.float64) / 255
