"""Fused kernels in C: the local work of plain descent, where a problem has the right shape.

The algorithm's file stays the definition; a kernel gives the same numbers to rounding.
"""

from driftfold.native.descent import Kernel, Send, descend
from driftfold.native.loading import SWITCH, Library, Missing, library, open_library

__all__ = ["SWITCH", "Kernel", "Library", "Missing", "Send", "descend", "library", "open_library"]
