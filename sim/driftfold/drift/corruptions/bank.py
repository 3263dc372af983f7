"""A bank of corrupted pictures: each made when it is first asked for, then kept."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from driftfold.arrays import Array, Bools, Ints
from driftfold.drift.corruptions.base import SEVERITIES, Corruption
from driftfold.drift.corruptions.eight_bit import Bytes, from_bytes, to_bytes
from driftfold.errors import DataError
from driftfold.rng import Seed

CLEAN = 0
"""Severity at which a bank gives the pictures themselves."""

_SHARED = 8
"""Banks that a process keeps for the runs to come, beside their bound on memory."""

_TILE = 256
"""Pictures that are rounded to bytes at a time."""


class Bank:
    """Pictures of one pool under any of several corruptions, as bytes.

    Bytes because that is what CIFAR-10-C has: corrupted values are rounded to whole 255ths. What is
    kept changes no bit of what is given. Memory holds pages, all pictures of a pool under one
    corruption and severity; the page that was asked for longest ago makes room.

    Parameters
    ----------
    pictures
        The pool, shape (N, H, W, ch): bytes, or floats in [0, 1], which are rounded to bytes first.
    corruptions
        What may spoil them; they are asked for by their number.
    seed
        Root of what is random; the same by default in every experiment.
    room
        Bytes that pages may take; at least one page is kept.

    Examples
    --------
    >>> from driftfold.drift.corruptions import published
    >>> pool = np.full((100, 8, 8, 1), 0.5)
    >>> bank = Bank(pool, published())
    >>> client, rows = np.array([[0], [10]]), np.array([[3, 4, 3], [5, 6, 7]])
    >>> bank.pictures(client, np.array([[2], [5]]), rows).shape
    (2, 3, 8, 8, 1)
    >>> np.unique(bank.pictures(10, 5, rows))  # 0.5 + 0.3
    array([204], dtype=uint8)
    """

    def __init__(
        self,
        pictures: Array,
        corruptions: Sequence[Corruption],
        seed: Seed = Seed(0),  # noqa: B008
        room: int = 10**9,
    ) -> None:
        self._pool: Bytes = pictures if pictures.dtype == np.uint8 else _rounded(pictures)
        self._corruptions = tuple(corruptions)
        self._seed = seed
        self._room = room
        self._pages: OrderedDict[tuple[int, int], tuple[Bytes, Bools]] = OrderedDict()

    def pictures(self, corruptions: Ints | int, severities: Ints | int, rows: Ints) -> Bytes:
        """Return pictures under corruptions, shape (..., H, W, ch).

        The numbers of corruptions, severities (1 to 5, or 0 for pictures that nothing spoils) and
        rows of the pool broadcast to the shape (...).
        """
        which, how, where = np.broadcast_arrays(corruptions, severities, rows)
        self._check(which, how, where)
        given = np.empty((*where.shape, *self._pool.shape[1:]), np.uint8)
        keys = which * 8 + how  # in the order of their first number, to visit few pages twice
        for key in np.unique(keys).tolist():
            chosen = keys == key
            given[chosen] = self._of_page(key // 8, key % 8, where[chosen])
        return given

    @property
    def held(self) -> int:
        """Bytes of the pages that are kept."""
        return sum(page.nbytes for page, _ in self._pages.values())

    def _of_page(self, which: int, severity: int, rows: Ints) -> Bytes:
        if severity == CLEAN:
            return self._pool[rows]
        page, made = self._page(which, severity)
        missing = np.unique(rows[~made[rows]])
        if len(missing):
            clean = from_bytes(self._pool[missing])
            spoilt = self._corruptions[which].corrupt(clean, severity, missing, self._seed)
            page[missing] = to_bytes(spoilt)
            made[missing] = True
        return page[rows]

    def _page(self, which: int, severity: int) -> tuple[Bytes, Bools]:
        key = (which, severity)
        if key not in self._pages:
            while self._pages and self.held + self._pool.nbytes > self._room:
                self._pages.popitem(last=False)
            self._pages[key] = (np.empty_like(self._pool), np.zeros(len(self._pool), np.bool_))
        self._pages.move_to_end(key)
        return self._pages[key]

    def _check(self, which: Ints, severities: Ints, rows: Ints) -> None:
        for what, numbers, count in (
            ("corruptions", which, len(self._corruptions)),
            ("severities", severities, len(SEVERITIES) + 1),
            ("rows", rows, len(self._pool)),
        ):
            if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < count:
                raise DataError(
                    f"{what} are numbered 0 to {count - 1} in this bank, got {numbers.min()} to "
                    f"{numbers.max()}"
                )


_banks: OrderedDict[tuple[object, ...], Bank] = OrderedDict()


def shared_bank(pictures: Array, corruptions: Sequence[Corruption], room: int = 10**9) -> Bank:
    """Return the bank of this pool that another run of this process has filled, or a new one.

    All kept banks together take `room` bytes, but for the one that was asked for last.

    >>> from driftfold.drift.corruptions import published
    >>> pool = np.full((100, 8, 8, 1), 0.5)
    >>> shared_bank(pool, published()) is shared_bank(pool.copy(), published())
    True
    """
    content = hashlib.blake2b(np.ascontiguousarray(pictures).data, digest_size=16).digest()
    key = content, pictures.shape, pictures.dtype.str, tuple(corruptions), room
    bank = _banks.pop(key, None) or Bank(pictures, corruptions, room=room)
    _banks[key] = bank
    while len(_banks) > 1 and (
        len(_banks) > _SHARED or sum(kept.held for kept in _banks.values()) > room
    ):
        _banks.popitem(last=False)
    return bank


def _rounded(pictures: Array) -> Bytes:
    made = np.empty(pictures.shape, np.uint8)
    for start in range(0, len(pictures), _TILE):  # products of the whole pool would be 8 times it
        some = pictures[start : start + _TILE]
        if not ((some >= 0) & (some <= 1)).all():  # false for NaN, too
            raise DataError(
                "pictures have values in [0, 1] or are bytes, got floats that are not; scale them"
            )
        made[start : start + _TILE] = to_bytes(some)
    return made
