"""Philox4x32-10, a counter-based generator, for many counters at once.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A block of
four 32-bit words is a fixed bijection of its 128-bit counter under a 64-bit key, so any block can
be had at any time, in any order, in any company. The library of kernels gives the same bits sooner.
"""

import threading
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from driftfold.native import drawer

Words = npt.NDArray[np.uint32]
Counters = npt.NDArray[np.uint64]

_ROUNDS = 10
_MULTIPLIER_0, _MULTIPLIER_2 = 0xD2511F53, 0xCD9E8D57
_WEYL_0, _WEYL_1 = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF

# Constants are arrays because NumPy is slower to take a scalar as an operand.
_LOW = np.array(_MASK, np.uint64)
_HALF = np.array(32, np.uint64)
# Words (0, 1) come from counter word 2, words (2, 3) from counter word 0.
_MULTIPLIERS = np.array([_MULTIPLIER_2, _MULTIPLIER_0], np.uint64).reshape(2, 1)
# Blocks computed together: the three scratch arrays then stay in a second-level cache.
_TILE = 8192
# Up to so many blocks Python's own integers are faster than array operations.
_FEW = 8


class _Scratch(threading.local):
    """Working memory of a thread: asking the system for it anew would cost as much as the work."""

    def __init__(self) -> None:
        self.arrays = np.empty((3, 2 * _TILE), np.uint64)


_scratch = _Scratch()


def philox(
    key: int, clients: Counters, visits: Counters, purpose: int, blocks: int, first: int = 0
) -> Words:
    """Blocks first .. first + blocks - 1 of each row, counter (block, client, visit, purpose).

    `clients` and `visits` have shape (k,) and values below 2^32, `key` is below 2^64; the result
    has shape (k, 4 * blocks).

    >>> zero = np.zeros(1, np.uint64)
    >>> [hex(word) for word in philox(0, zero, zero, 0, blocks=1)[0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    drawn = drawer()
    if drawn is not None:
        return drawn.words(key, clients, visits, purpose, 4 * blocks, first)
    return (
        _pairs(key, clients, visits, purpose, blocks, first)
        .view("<u4")
        .astype(np.uint32, copy=False)
    )


def fractions(
    key: int, clients: Counters, visits: Counters, purpose: int, count: int
) -> npt.NDArray[np.float64]:
    """Multiples of 2^-53 in [0, 1) of each row's words 2 j and 2 j + 1, the lower one first.

    Shape (k, count); the blocks are those from 0 on of `philox`.

    >>> zero = np.zeros(1, np.uint64)
    >>> fractions(0, zero, zero, 0, count=2).round(4)
    array([[0.8805, 0.6055]])
    """
    drawn = drawer()
    if drawn is not None:
        return drawn.fractions(key, clients, visits, purpose, count)
    pairs = _pairs(key, clients, visits, purpose, -(-count // 2), 0)[:, :count].astype(np.uint64)
    made: npt.NDArray[np.float64] = (pairs >> np.uint64(11)) * np.float64(2.0**-53)
    return made


def _pairs(
    key: int, clients: Counters, visits: Counters, purpose: int, blocks: int, first: int
) -> Counters:
    """The words of the blocks as little-endian pairs, shape (k, 2 * blocks)."""
    rows = len(clients)
    # Pairs of words are stored as one little-endian number: one pass instead of two strided ones.
    out = np.empty((rows, blocks, 2), np.dtype("<u8"))
    keys = _round_keys(key)
    if rows * blocks <= _FEW:
        halves = keys[..., 0].tolist()
        for row, (client, visit) in enumerate(zip(clients.tolist(), visits.tolist(), strict=True)):
            for block in range(blocks):
                out[row, block] = _mix_one(halves, first + block, client, visit, purpose)
    else:
        width = max(1, min(blocks, _TILE))
        height = max(1, _TILE // width)
        for top in range(0, rows, height):
            some = slice(top, min(rows, top + height))
            for left in range(0, blocks, width):
                across = slice(left, min(blocks, left + width))
                counters = np.arange(first + across.start, first + across.stop, dtype=np.uint64)
                _mix(keys, counters, clients[some], visits[some], purpose, out[some, across])
    return out.reshape(rows, 2 * blocks)


def _mix(
    keys: Counters,
    blocks: Counters,
    clients: Counters,
    visits: Counters,
    purpose: int,
    out: Counters,
) -> None:
    """Write the word pairs (0, 1) and (2, 3) of each block into `out`."""
    shape = (2, len(clients), len(blocks))
    size = len(clients) * len(blocks)
    # Row 0 holds counter words 0 and 1, row 1 holds 2 and 3. The upper halves of `odd` are
    # leftovers of the products.
    even, odd, product = (array[: 2 * size].reshape(2, size) for array in _scratch.arrays)
    grid = even.reshape(shape)
    grid[0] = blocks
    grid[1] = visits[:, None]
    odd.reshape(shape)[0] = clients[:, None]
    odd[1] = purpose
    for key in keys:
        np.multiply(even[::-1], _MULTIPLIERS, product)
        np.right_shift(product, _HALF, even)
        np.bitwise_xor(even, odd, even)
        np.bitwise_xor(even, key, even)
        np.bitwise_and(even, _LOW, even)
        product, odd = odd, product
    np.left_shift(odd, _HALF, odd)
    np.bitwise_or(even, odd, even)
    out[...] = grid.transpose(1, 2, 0)


def _mix_one(
    keys: list[list[int]], block: int, client: int, visit: int, purpose: int
) -> tuple[int, int]:
    """Word pairs (0, 1) and (2, 3) of one block."""
    for low, high in keys:
        product_0, product_2 = _MULTIPLIER_0 * block, _MULTIPLIER_2 * visit
        block, client = (product_2 >> 32) ^ client ^ low, product_2 & _MASK
        visit, purpose = (product_0 >> 32) ^ purpose ^ high, product_0 & _MASK
    return block | client << 32, visit | purpose << 32


@lru_cache
def _round_keys(key: int) -> Counters:
    """Low and high half of each round's key, shape (rounds, 2, 1)."""
    halves = ((key & _MASK, _WEYL_0), (key >> 32, _WEYL_1))
    keys = [[(half + turn * weyl) % 2**32 for turn in range(_ROUNDS)] for half, weyl in halves]
    return np.array(keys, np.uint64).T.reshape(_ROUNDS, 2, 1)
