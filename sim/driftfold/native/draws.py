"""Blocks of Philox by the library of kernels: the bits of the NumPy form in less time."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.native.address import address
from driftfold.native.loading import Library, library

Counters = npt.NDArray[np.uint64]


class _Draws(ctypes.Structure):
    """`Draws` of philox.c."""

    _fields_ = (
        ("key", ctypes.c_uint64),
        ("clients", ctypes.c_void_p),
        ("visits", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("purpose", ctypes.c_uint64),
        ("first", ctypes.c_uint64),
        ("count", ctypes.c_int64),
    )


class Drawer:
    """Gives what Philox makes of each row's counter (block, client, visit, purpose).

    Parameters
    ----------
    library
        Where the code is.
    """

    def __init__(self, library: Library) -> None:
        self._words = library.function("words")
        self._fractions = library.function("fractions")
        self._integers = library.function("integers")
        self._polar = library.function("polar")

    def words(
        self, key: int, clients: Counters, visits: Counters, purpose: int, count: int, first: int
    ) -> npt.NDArray[np.uint32]:
        """The first `count` words from block `first` on of each row, shape (k, count)."""
        out = np.empty((len(clients), count), np.uint32)
        _fill(self._words, (out,), key, clients, visits, purpose, first, count)
        return out

    def fractions(
        self, key: int, clients: Counters, visits: Counters, purpose: int, count: int
    ) -> npt.NDArray[np.float64]:
        """Multiples of 2^-53 in [0, 1) of two words each, shape (k, count)."""
        out = np.empty((len(clients), count))
        _fill(self._fractions, (out,), key, clients, visits, purpose, 0, count)
        return out

    def integers(
        self,
        key: int,
        clients: Counters,
        visits: Counters,
        purpose: int,
        count: int,
        bounds: Counters,
    ) -> npt.NDArray[np.int64]:
        """Whole numbers below each row's bound of two words each, shape (k, count)."""
        out = np.empty((len(clients), count), np.int64)
        below = np.ascontiguousarray(bounds)
        _fill(self._integers, (below, out), key, clients, visits, purpose, 0, count)
        return out

    def polar(
        self,
        key: int,
        clients: Counters,
        visits: Counters,
        purpose: int,
        count: int,
        rest: npt.NDArray[np.float64],
        angles: npt.NDArray[np.float64],
    ) -> None:
        """Write 1 - u and 2 pi v of `count` pairs of fractions a row to the first k * count."""
        _fill(self._polar, (rest, angles), key, clients, visits, purpose, 0, count)


def _fill(
    function: Callable[..., Any],
    arrays: tuple[npt.NDArray[Any], ...],
    key: int,
    clients: Counters,
    visits: Counters,
    purpose: int,
    first: int,
    count: int,
) -> None:
    who, when = np.ascontiguousarray(clients), np.ascontiguousarray(visits)
    task = _Draws(key, address(who), address(when), len(who), purpose, first, count)
    function(ctypes.byref(task), *[ctypes.c_void_p(address(array)) for array in arrays])


@cache
def drawer() -> Drawer | None:
    """Return this process's drawer, or None where there is no library."""
    found = library()
    return Drawer(found) if isinstance(found, Library) else None
