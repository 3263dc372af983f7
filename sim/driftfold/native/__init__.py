"""Kernels in C: random words, searches for sessions, sums, and the local work of plain descent.

The Python form stays the definition. Random words, searches and the server's sums are the same
bits, local work, on data of the right shape, the same numbers to rounding.
"""

from driftfold.native.descent import Descender, Kernel, Send
from driftfold.native.draws import Drawer, drawer
from driftfold.native.exact import Exact, exact
from driftfold.native.loading import SWITCH, Library, Missing, library, open_library
from driftfold.native.resets import Law, Searcher, searcher

__all__ = [
    "SWITCH",
    "Descender",
    "Drawer",
    "Exact",
    "Kernel",
    "Law",
    "Library",
    "Missing",
    "Searcher",
    "Send",
    "drawer",
    "exact",
    "library",
    "open_library",
    "searcher",
]
