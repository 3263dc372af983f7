"""Philox4x32-10, a counter-based generator, for many counters at once.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A block of
four 32-bit words is a fixed bijection of its 128-bit counter under a 64-bit key, so any block can
be had at any time, in any order, in any company.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Counters = npt.NDArray[np.uint64]

_ROUNDS = 10
# Constants are arrays because NumPy is slower to take a scalar as an operand.
_LOW = np.array(0xFFFFFFFF, np.uint64)
_HALF = np.array(32, np.uint64)
# Words (0, 1) come from counter word 2, words (2, 3) from counter word 0.
_MULTIPLIERS = np.array([0xCD9E8D57, 0xD2511F53], np.uint64).reshape(2, 1)
_WEYL = (0x9E3779B9, 0xBB67AE85)
# Blocks computed together: the three scratch arrays then stay in a second-level cache.
_TILE = 8192


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
    rows = len(clients)
    # Pairs of words are stored as one little-endian number: one pass instead of two strided ones.
    out = np.empty((rows, blocks, 2), np.dtype("<u8"))
    keys = _round_keys(key)
    width = max(1, min(blocks, _TILE))
    height = max(1, _TILE // width)
    for top in range(0, rows, height):
        some = slice(top, min(rows, top + height))
        for left in range(0, blocks, width):
            across = slice(left, min(blocks, left + width))
            counters = np.arange(first + across.start, first + across.stop, dtype=np.uint64)
            _mix(keys, counters, clients[some], visits[some], purpose, out[some, across])
    return out.view("<u4").reshape(rows, 4 * blocks).astype(np.uint32, copy=False)


def _mix(
    keys: Counters,
    blocks: Counters,
    clients: Counters,
    visits: Counters,
    purpose: int,
    out: Counters,
) -> None:
    """Write the word pairs (0, 1) and (2, 3) of each block into `out`."""
    # Row 0 holds counter words 0 and 1, row 1 holds 2 and 3. The upper halves of
    # `rest` are leftovers of the products.
    even = np.empty((2, len(clients), len(blocks)), np.uint64)
    odd = np.empty_like(even)
    even[0] = blocks
    even[1] = visits[:, None]
    odd[0] = clients[:, None]
    odd[1] = purpose
    flat, rest = even.reshape(2, -1), odd.reshape(2, -1)
    product = np.empty_like(flat)
    for key in keys:
        np.multiply(flat[::-1], _MULTIPLIERS, product)
        np.right_shift(product, _HALF, flat)
        np.bitwise_xor(flat, rest, flat)
        np.bitwise_xor(flat, key, flat)
        np.bitwise_and(flat, _LOW, flat)
        product, rest = rest, product
    np.left_shift(rest, _HALF, rest)
    np.bitwise_or(flat, rest, flat)
    out[...] = np.moveaxis(even, 0, -1)


@lru_cache
def _round_keys(key: int) -> Counters:
    """Low and high half of each round's key, shape (rounds, 2, 1)."""
    halves = zip((key & 0xFFFFFFFF, key >> 32), _WEYL, strict=True)
    keys = [[(half + turn * weyl) % 2**32 for turn in range(_ROUNDS)] for half, weyl in halves]
    return np.array(keys, np.uint64).T.reshape(_ROUNDS, 2, 1)
