"""Small whole numbers, packed into as few bytes as their bits need."""

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Ints

Bytes = npt.NDArray[np.uint8]


def packed_size(count: int, bits: int) -> int:
    """Bytes of `count` numbers of `bits` bits."""
    return -(-count * bits // 8)


def pack(numbers: Ints, bits: int) -> Bytes:
    """Numbers from 0 to 2^bits - 1, shape (..., n), as bytes, shape (..., packed_size(n, bits)).

    >>> pack(np.array([1, 2, 3]), bits=2)
    array([57], dtype=uint8)
    """
    n = numbers.shape[-1]
    ones = (numbers[..., None] >> np.arange(bits)) & 1
    flat = ones.astype(np.uint8).reshape(*numbers.shape[:-1], n * bits)
    return np.packbits(flat, axis=-1, bitorder="little")


def unpack(packed: Bytes, bits: int, count: int) -> Ints:
    """Inverse of `pack`, shape (..., count).

    >>> unpack(pack(np.array([5, 0, 7]), bits=3), bits=3, count=3)
    array([5, 0, 7])
    """
    ones = np.unpackbits(packed, axis=-1, count=count * bits, bitorder="little")
    shaped = ones.reshape(*packed.shape[:-1], count, bits)
    numbers: Ints = (shaped.astype(np.int64) << np.arange(bits)).sum(axis=-1)
    return numbers
