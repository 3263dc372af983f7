"""Large temporaries do not cost page faults each time."""

import platform
import resource

import numpy as np
import pytest

from driftfold.compute.freed_memory import keep_freed_memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries keep other rules")
def test_pages_are_kept() -> None:
    """Three blocks of 4 MB, ten times, are 30,720 pages of 4 kB; all but a few stay mapped."""
    keep_freed_memory()
    before = 0
    for turn in range(13):
        a = np.ones(2**19)
        b = a + a
        assert (a * b)[0] == 2
        del a, b
        if turn == 2:  # the first ones fetch the pages
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 300
