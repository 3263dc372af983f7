"""torch, imported when something first needs it, and set up to repeat its bits on one thread."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def load_torch() -> Any:
    """Import torch, with a matrix library whose bits do not depend on where an array lies.

    MKL, with which torch multiplies matrices on most processors, chooses another order of
    additions for arrays that begin off a multiple of 64 bytes, as most items of a stack do. Its
    strict reproducible mode does not, at no cost that could be measured; it has to be asked for
    before MKL is first used. So where a program has used torch before, bits of a client may
    depend on its place in the stack (about 1e-16 relative).
    """
    first = "torch" not in sys.modules
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    import torch

    if first:
        torch.set_num_threads(1)
    return torch


@contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """Compute on one thread inside: on shared cores more were 4 to 15 times slower."""
    before = torch.get_num_threads()
    if before != 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if before != 1:
            torch.set_num_threads(before)
