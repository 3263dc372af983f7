"""Kernels in C: random words, searches for sessions, and the local work of plain descent.

The Python form stays the definition. Random words and searches are the same bits, local work, on
data of the right shape, the same numbers to rounding.
"""

from driftfold.native.descent import Descender, Kernel, Send
from driftfold.native.draws import Drawer, drawer
from driftfold.native.loading import SWITCH, Library, Missing, library, open_library
from driftfold.native.resets import Law, Searcher, searcher

__all__ = [
    "SWITCH",
    "Descender",
    "Drawer",
    "Kernel",
    "Law",
    "Library",
    "Missing",
    "Searcher",
    "Send",
    "drawer",
    "library",
    "open_library",
    "searcher",
]
