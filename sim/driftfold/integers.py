"""From random 32-bit words to bounded integers and to subsets, in exact integer arithmetic."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Ints
from driftfold.native import drawer
from driftfold.philox import philox

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.uint64]
Draw = Callable[[Ints, int], Words]
"""The first `count` words of each of some rows: (row numbers (k,), count) -> (k, count)."""

_HALF = np.array(32, np.uint64)
_LOW = np.array(0xFFFFFFFF, np.uint64)
_ALL = np.array(2**64 - 1, np.uint64)


def pair(words: Words) -> Numbers:
    """Join words two by two, the first one low: (..., 2 n) uint32 -> (..., n) uint64."""
    return np.ascontiguousarray(words, np.dtype("<u4")).view("<u8").astype(np.uint64, copy=False)


def scale(numbers: Numbers, bound: Numbers) -> Numbers:
    """Map uniform 64-bit numbers to [0, bound), bound up to 2^32: floor(numbers * bound / 2^64).

    >>> scale(np.array([0, 2**63, 2**64 - 1], np.uint64), np.array(6, np.uint64)).tolist()
    [0, 3, 5]
    """
    carry = (numbers & _LOW) * bound >> _HALF
    return ((numbers >> _HALF) * bound + carry) >> _HALF


def below(
    key: int, clients: Numbers, visits: Numbers, purpose: int, bounds: Numbers, count: int
) -> Ints:
    """Uniform numbers below each row's bound, of two words each of `philox`, shape (k, count).

    >>> zero = np.zeros(1, np.uint64)
    >>> below(0, zero, zero, 0, np.array([6], np.uint64), count=3)
    array([[5, 3, 2]])
    """
    drawn = drawer()
    if drawn is not None:
        return drawn.integers(key, clients, visits, purpose, count, bounds)
    words = philox(key, clients, visits, purpose, -(-count // 2))[:, : 2 * count]
    return scale(pair(words), bounds[:, None]).astype(np.int64)


def smallest_keys(draw: Draw, bounds: Numbers, size: int) -> Ints:
    """Give each number below its row's bound a random key; choose the `size` smallest keys.

    Costs one word a number, whatever the size. Equal keys would favour small numbers, so a row
    where they matter is drawn again; this keeps all subsets, in all orders, equally likely.
    """
    rows = np.arange(len(bounds))
    chosen = np.empty((len(bounds), size), np.int64)
    attempt = 0
    while len(rows):
        bound = bounds[rows]
        width = int(bound.max())
        if attempt == 0:
            keys = draw(rows, width).astype(np.uint64)
        else:
            keys = np.zeros((len(rows), width), np.uint64)
            for key, row, own in zip(keys, rows, bound.tolist(), strict=True):
                key[:own] = draw(np.array([row]), (attempt + 1) * own)[0, attempt * own :]
        keys <<= _HALF
        column = np.arange(width, dtype=np.uint64)
        keys |= column
        if int(bound.min()) < width:
            keys[column >= bound[:, None]] = _ALL
        keys.sort(axis=-1)
        keys = keys[:, : size + 1]
        tied = (keys[:, 1:] ^ keys[:, :-1]) <= _LOW
        if width > size:
            tied[bound == size, -1:] = False  # the last key belongs to no number
        keys = keys[:, :size]
        keys &= _LOW
        chosen[rows] = keys
        rows = rows[tied.any(axis=-1)] if tied.any() else rows[:0]
        attempt += 1
    return chosen


def first_distinct(draw: Draw, bounds: Numbers, size: int) -> Ints:
    """Draw numbers below each row's bound; keep the first `size` different ones.

    Costs little more than two words a chosen number as long as size is well below the bound.
    """
    rows = np.arange(len(bounds))
    chosen = np.empty((len(bounds), size), np.int64)
    # Room for the expected repeats; a row that meets more of them is drawn again, longer, from its
    # beginning, so the room given does not show in the result.
    length = size + size * size // max(1, int(bounds.min(initial=2**32))) + 8
    while len(rows):
        numbers = scale(pair(draw(rows, 2 * length)), bounds[rows][:, None])
        numbers <<= _HALF
        numbers |= np.arange(length, dtype=np.uint64)
        numbers.sort(axis=-1)
        value = numbers >> _HALF
        numbers <<= _HALF
        numbers |= value
        numbers[:, 1:][value[:, 1:] == value[:, :-1]] = _ALL
        numbers.sort(axis=-1)
        chosen[rows] = numbers[:, :size] & _LOW
        rows = rows[(numbers[:, :size] == _ALL).any(axis=-1)]
        length *= 2
    return chosen
