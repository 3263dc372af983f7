"""How much work something is, told by what it allocates rather than by a clock."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Memory:
    """The most bytes that were allocated at a time, beyond those before."""

    peak: int = 0


@contextmanager
def allocated() -> Iterator[Memory]:
    """Watch what is allocated inside, by NumPy too."""
    memory = Memory()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        yield memory
        memory.peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
