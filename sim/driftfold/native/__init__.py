"""Fused kernels in C: the local work of plain descent, where a problem has the right shape.

The algorithm's file stays the definition; a kernel gives the same numbers to rounding.
"""

from driftfold.native.descent import Descender, Kernel, Send
from driftfold.native.loading import SWITCH, Library, Missing, library, open_library

__all__ = [
    "SWITCH",
    "Descender",
    "Kernel",
    "Library",
    "Missing",
    "Send",
    "library",
    "open_library",
]
