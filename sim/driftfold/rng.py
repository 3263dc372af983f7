"""Random numbers addressed by key, never drawn from a shared stream.

A draw is named by (seed, purpose, client, visit): it is the same whenever, in whatever order and in
whatever company it is asked for, so that another client, metric or plug-in moves nobody's numbers.
All conversions from raw words are our own, since NumPy promises the same values over versions for
raw generators only.

>>> stream = Seed(7).stream("batches")
>>> stream.subsets(clients=np.array([0, 1]), visits=3, population=10, size=4)
array([[4, 3, 6, 7],
       [9, 1, 7, 2]])
>>> stream.subsets(clients=1, visits=3, population=10, size=4)
array([9, 1, 7, 2])
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats, Ints
from driftfold.errors import SpecError
from driftfold.integers import below, first_distinct, smallest_keys
from driftfold.lanes import in_whole_vectors
from driftfold.normals import normals
from driftfold.philox import fractions, philox

IntsLike = npt.NDArray[np.integer] | int
Words = npt.NDArray[np.uint32]
Counters = npt.NDArray[np.uint64]
Floats32 = npt.NDArray[np.float32]
Draw = Callable[[int], Floats]
"""Uniform numbers in [0, 1) of a client's own, shape (..., count), the same at each call."""

_TILE = 2**20
"""Normals that are made at a time."""

_PAIRS = 2**14
"""Pairs of single-precision normals that are made at a time: what is between stays in cache."""

_WORD = 2**32


@dataclass(frozen=True)
class Seed:
    """Root of all randomness of one experiment.

    Attributes
    ----------
    value
        The seed, 0 .. 2^64 - 1; all 64 bits count.

    Raises
    ------
    SpecError
        The seed is not a whole number in that range.

    Examples
    --------
    >>> Seed(-1)
    Traceback (most recent call last):
    driftfold.errors.SpecError: a seed is a whole number from 0 to 2^64 - 1, got -1; choose another
    """

    value: int

    def __post_init__(self) -> None:
        whole = isinstance(self.value, int | np.integer) and not isinstance(self.value, bool)
        if not whole or not 0 <= self.value < 2**64:
            raise SpecError(
                f"a seed is a whole number from 0 to 2^64 - 1, got {self.value!r}; choose another"
            )

    def stream(self, purpose: str) -> "Stream":
        """Return the stream of all draws made for `purpose` (for example "batches")."""
        return Stream(int(self.value), purpose)

    def normals(self, purposes: Sequence[str], clients: IntsLike, visits: IntsLike) -> Floats:
        """Draw one standard normal for each of m purposes, shape (m, ...).

        They are those of `stream(purpose).normal(clients, visits, 1)`, drawn in one pass.

        >>> seed, clients = Seed(7), np.arange(2)
        >>> both = seed.normals(["noise", "pace"], clients, visits=0)
        >>> np.array_equal(both[1], seed.stream("pace").normal(clients, 0, 1)[:, 0])
        True
        """
        who, when = _together(_numbers("client", clients), _numbers("visit", visits))
        addresses = [_tag(purpose) for purpose in purposes]
        drawn = normals(int(self.value), who.reshape(-1), when.reshape(-1), addresses, 1)
        return drawn.reshape(len(addresses), *who.shape)


@dataclass(frozen=True)
class Stream:
    """All draws made for one purpose under one seed.

    `clients` and `visits` are whole numbers below 2^32 or integer arrays of them; they broadcast
    to the batch shape (...). Asking for fewer numbers gives a prefix (not so for `subsets`).

    Raises
    ------
    ValueError
        A client, visit, count or bound outside its range.
    """

    seed: int
    purpose: str

    @property
    def address(self) -> int:
        """The purpose's part of the counter: a 32-bit hash of its name."""
        return _tag(self.purpose)

    def words(self, clients: IntsLike, visits: IntsLike, count: int) -> Words:
        """Uniform 32-bit words, shape (..., count).

        Word 4b + j is word j of the Philox4x32-10 block with counter (b, client, visit, purpose),
        where the purpose is the stream's `address`.

        >>> Seed(7).stream("batches").words(0, visits=0, count=2)
        array([3908207344, 1607329976], dtype=uint32)
        """
        _check_count(count)
        who, when = _together(_numbers("client", clients), _numbers("visit", visits))
        blocks = -(-count // 4)
        rows = philox(self.seed, who.reshape(-1), when.reshape(-1), self.address, blocks)
        return rows[:, :count].reshape(*who.shape, count)

    def uniform(self, clients: IntsLike, visits: IntsLike, count: int) -> Floats:
        """Uniform float64 in [0, 1), multiples of 2^-53, shape (..., count).

        >>> Seed(7).stream("response").uniform(np.arange(2), visits=0, count=1).shape
        (2, 1)
        """
        _check_count(2 * count)
        who, when = _together(_numbers("client", clients), _numbers("visit", visits))
        rows = fractions(self.seed, who.reshape(-1), when.reshape(-1), self.address, count)
        return rows.reshape(*who.shape, count)

    def normal(self, clients: IntsLike, visits: IntsLike, count: int) -> Floats:
        """Draw standard normal float64, shape (..., count), at most 8.6 in size.

        Box and Muller (1958): two uniforms u, v give sqrt(-2 log(1 - u)) (cos 2 pi v, sin 2 pi v).

        >>> Seed(7).stream("noise").normal(0, visits=0, count=3).shape
        (3,)
        """
        _check_count(count)
        who, when = _together(_numbers("client", clients), _numbers("visit", visits))
        shape, who, when = who.shape, who.reshape(-1), when.reshape(-1)
        tile = max(1, _TILE // max(1, count))
        if len(who) <= tile:
            return normals(self.seed, who, when, [self.address], count).reshape(*shape, count)
        made = np.empty((len(who), count))
        for start in range(0, len(who), tile):  # what lies between words and result is larger
            some = slice(start, start + tile)
            made[some] = normals(self.seed, who[some], when[some], [self.address], count)[0]
        return made.reshape(*shape, count)

    def normal32(self, clients: IntsLike, visits: IntsLike, count: int) -> Floats32:
        """Draw standard normal float32, shape (..., count), at most 5.8 in size.

        For great numbers of them: many times as fast as `normal`. Box and Muller (1958) in single
        precision, from the halves of the words of NumPy's Philox4x64-10 (raw words, whose values
        NumPy promises over versions) under a key of four words of this stream.

        >>> Seed(7).stream("directions").normal32(np.arange(2), visits=0, count=3).shape
        (2, 3)
        """
        _check_count(count)
        keys = self.words(clients, visits, 4)
        shape, keys, half = keys.shape[:-1], keys.reshape(-1, 4).astype("<u4"), -(-count // 2)
        normal = np.empty((len(keys), half, 2), np.float32)
        tile = max(1, _PAIRS // max(1, half))
        for start in range(0, len(keys), tile):
            some = slice(start, start + tile)
            raw = np.empty(normal[some].shape[:-1], np.uint64)
            for row, words in zip(raw, keys[some], strict=True):
                key = int.from_bytes(words.tobytes(), "little")
                row[:] = np.random.Philox(key=key).random_raw(half)
            first = (raw >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
            second = (raw & np.uint64(2**24 - 1)).astype(np.float32) * np.float32(2.0**-24)
            radius = np.sqrt(-2 * in_whole_vectors(np.log, 1 - first))
            angle = np.float32(2 * np.pi) * second
            np.multiply(radius, in_whole_vectors(np.cos, angle), out=normal[some, :, 0])
            np.multiply(radius, in_whole_vectors(np.sin, angle), out=normal[some, :, 1])
        return normal.reshape(*shape, 2 * half)[..., :count]

    def integers(self, clients: IntsLike, visits: IntsLike, count: int, high: IntsLike) -> Ints:
        """Uniform int64 in [0, high), shape (..., count).

        `high` is from 1 to 2^32 and broadcasts to the batch shape. No value's probability is off
        by more than 2^-64 (Lemire 2019, multiplication without rejection).

        >>> Seed(7).stream("pick").integers(np.arange(3), visits=0, count=2, high=6).shape
        (3, 2)
        """
        _check_count(2 * count)
        who, when, bound = _together(
            _numbers("client", clients),
            _numbers("visit", visits),
            _numbers("high", high, 1, _WORD),
        )
        batch = bound.shape
        who, when, bound = who.reshape(-1), when.reshape(-1), bound.reshape(-1)
        return below(self.seed, who, when, self.address, bound, count).reshape(*batch, count)

    def subsets(self, clients: IntsLike, visits: IntsLike, population: IntsLike, size: int) -> Ints:
        """Uniformly random subsets: `size` distinct int64 below `population`, shape (..., size).

        `population` is from `size` to 2^32 and broadcasts to the batch shape. The order within a
        subset is uniformly random too.

        >>> sorted(Seed(7).stream("batches").subsets(0, 0, population=5, size=5).tolist())
        [0, 1, 2, 3, 4]
        """
        if not 0 <= size <= _WORD:
            raise ValueError(f"size must be from 0 to 2^32, got {size}")
        who, when, bound = _together(
            _numbers("client", clients),
            _numbers("visit", visits),
            _numbers("population", population, max(1, size), _WORD),
        )
        batch = bound.shape
        who, when, bound = who.reshape(-1), when.reshape(-1), bound.reshape(-1)
        chosen = np.empty((len(bound), size), np.int64)
        # Which way is a rule of the row alone, so that company cannot change it.
        sparse = bound > 4 * size
        for ways, choose in ((sparse, first_distinct), (~sparse, smallest_keys)):
            rows = np.flatnonzero(ways)
            if len(rows) and size:

                def draw(some: Ints, count: int, rows: Ints = rows) -> Words:
                    few = rows[some]
                    blocks = -(-count // 4)
                    return philox(self.seed, who[few], when[few], self.address, blocks)[:, :count]

                chosen[rows] = choose(draw, bound[rows], size)
        return chosen.reshape(*batch, size)


@lru_cache(maxsize=1024)
def _tag(purpose: str) -> int:
    """32-bit name of a purpose; the hash is of a fixed algorithm, unlike Python's own."""
    return int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=4).digest(), "little")


def _check_count(count: int) -> None:
    if not 0 <= count <= 4 * _WORD:
        raise ValueError(f"count must be from 0 to 2^34, got {count}")


def _together(*arrays: Counters) -> list[Counters]:
    """All in one shape: NumPy's own broadcasting costs as much as hundreds of numbers."""
    shape = np.broadcast(*arrays).shape
    together = []
    for array in arrays:
        if array.shape != shape:
            spread = np.empty(shape, array.dtype)
            spread[...] = array
            array = spread
        together.append(array)
    return together


def _numbers(what: str, given: IntsLike, low: int = 0, high: int = _WORD - 1) -> Counters:
    """`given` as uint64, after a check that all lie in low..high."""
    if type(given) is int and low <= given <= high:
        return np.array(given, np.uint64)
    numbers = np.asarray(given)
    if numbers.dtype == np.int64 and low == 0:
        unsigned = numbers.view(np.uint64)  # one look is enough: those below 0 are beyond any bound
        if not numbers.size or int(np.maximum.reduce(unsigned, axis=None)) <= high:
            return unsigned
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"{what} must be integers, got {numbers.dtype}; convert them first")
    if numbers.size and not low <= int(numbers.min()) <= int(numbers.max()) <= high:
        wrong = numbers.min() if numbers.min() < low else numbers.max()
        raise ValueError(f"{what} must be from {low} to {high}, got {wrong}")
    return numbers.astype(np.uint64)
