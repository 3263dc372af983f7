"""Memory that temporaries free stays with the process, for the next ones."""

import numpy as np

_THRESHOLD = 31 * 2**20  # just below glibc's own bound, 32 MB


def keep_freed_memory() -> None:
    """Let the C library keep what large temporaries free, where it is glibc.

    It maps blocks above a threshold anew each time, and gives back what is free beyond twice that
    at the end of its memory; the system then clears every page again, which took half the time of
    local work with temporaries of a few megabytes. The threshold follows the largest block seen
    freed, so one that nobody touches raises it, at no cost.

    >>> keep_freed_memory()
    """
    np.empty(_THRESHOLD, np.uint8)
