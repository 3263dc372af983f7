"""Kernels in C: random words, and the local work of plain descent on data of the right shape.

The Python form stays the definition. Random words are the same bits, local work the same numbers to
rounding.
"""

from driftfold.native.descent import Descender, Kernel, Send
from driftfold.native.draws import Drawer, drawer
from driftfold.native.loading import SWITCH, Library, Missing, library, open_library

__all__ = [
    "SWITCH",
    "Descender",
    "Drawer",
    "Kernel",
    "Library",
    "Missing",
    "Send",
    "drawer",
    "library",
    "open_library",
]
