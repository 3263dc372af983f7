"""Searches among switches that forget, by the library of kernels: the same answers in less time."""

import ctypes
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.native.address import address
from driftfold.native.loading import Library, library

MARGIN = 2.0**-40
"""How near a rate a mark may come before the arrays' form is asked: many times what two cosines
differ by, and little beside the 2^-32 between two marks."""

_HANDED_BACK = 3


class _Column(ctypes.Structure):
    """`Column` of resets.c."""

    _fields_ = (("first", ctypes.c_void_p), ("stride", ctypes.c_int64))


class _Resets(ctypes.Structure):
    """`Resets` of resets.c."""

    _fields_ = (
        ("key", ctypes.c_uint64),
        ("draws", ctypes.c_uint64),
        ("early", ctypes.c_uint64),
        ("clients", ctypes.c_int64),
        ("warm", ctypes.c_int64),
        ("mean", ctypes.c_double),
        ("cumulative", ctypes.c_void_p),
        ("bound", _Column),
        ("start", _Column),
        ("on", _Column),
        ("off", _Column),
        ("top", _Column),
        ("amplitude", ctypes.c_double),
        ("amplitude_off", ctypes.c_double),
        ("margin", ctypes.c_double),
    )


@dataclass(frozen=True, eq=False)
class Law:
    """What `participation/resets.py` and its rates are made of; arrays have shape (N,).

    Attributes
    ----------
    key
        The seed.
    draws, early
        Addresses of the streams of the blocks, and of the states before the first switch.
    warm
        Blocks before time 0.
    mean
        Mean number of candidates in a block.
    cumulative
        Probabilities of at most 0, 1, ... of them; the last one is 1.
    bound
        Candidates a second.
    start
        Probability of being on before the first switch.
    on, off, top, amplitude, amplitude_off
        The rates.
    """

    key: int
    draws: int
    early: int
    warm: int
    mean: float
    cumulative: Floats
    bound: Floats
    start: Floats
    on: Floats
    off: Floats
    top: Floats
    amplitude: float
    amplitude_off: float


class Searcher:
    """Looks through the blocks of one client after the other.

    Clients whose answer might depend on the last bits of a cosine are handed back; for `margin` see
    `MARGIN`.
    """

    def __init__(self, library: Library, law: Law, margin: float = MARGIN) -> None:
        self._states = library.function("resets_states")
        self._changes = library.function("resets_changes")
        self._law = law  # its arrays are read where they are
        self._task = _Resets(
            law.key,
            law.draws,
            law.early,
            len(law.bound),
            law.warm,
            law.mean,
            address(law.cumulative),
            *map(_column, (law.bound, law.start, law.on, law.off, law.top)),
            law.amplitude,
            law.amplitude_off,
            margin,
        )

    def states(self, clients: Ints, t: float) -> tuple[Bools, Ints]:
        """State of each client at t, and the places of those that are handed back."""
        who = np.ascontiguousarray(clients, np.int64)
        out = np.empty(len(who), np.uint8)
        back = self._states(
            ctypes.byref(self._task),
            ctypes.c_void_p(address(who)),
            ctypes.c_int64(len(who)),
            ctypes.c_double(t),
            ctypes.c_void_p(address(out)),
        )
        left = np.flatnonzero(out == _HANDED_BACK) if back else _NOBODY
        return out.view(np.bool_), left

    def changes(self, clients: Ints, t: float, on: bool, ahead: int) -> tuple[Floats, Ints]:
        """When each client, from t, ceases to be on (or off), and who is handed back, places.

        It is t itself if it is not, and infinity if that never happens within `ahead` blocks.
        """
        who = np.ascontiguousarray(clients, np.int64)
        out = np.empty(len(who))
        back = self._changes(
            ctypes.byref(self._task),
            ctypes.c_void_p(address(who)),
            ctypes.c_int64(len(who)),
            ctypes.c_double(t),
            ctypes.c_int64(on),
            ctypes.c_int64(ahead),
            ctypes.c_void_p(address(out)),
        )
        return out, np.flatnonzero(np.isnan(out)) if back else _NOBODY


def searcher(law: Law) -> Searcher | None:
    """Return what searches among the switches of `law`, or None where there is no library."""
    found = library()
    return Searcher(found, law) if isinstance(found, Library) else None


def _column(numbers: Floats) -> _Column:
    return _Column(address(numbers), numbers.strides[0])


_NOBODY = np.empty(0, np.int64)
