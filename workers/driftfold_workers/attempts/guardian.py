"""Living and dying with another process: no attempt outlives its supervisor."""

import ctypes
import errno
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_adopting = 0


def die_with(parent: int) -> None:
    """Let the system kill this process when its parent, of process number `parent`, dies.

    Only Linux can, and there it is the thread that started this process that counts. Elsewhere it
    is the broken pipe that ends this process.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


@contextmanager
def adopting() -> Iterator[None]:
    """Let orphans among the descendants become children of this process meanwhile.

    Only Linux can; elsewhere, and where it is forbidden, this raises OSError. It is no lasting
    state, because whoever adopts has to wait for each.
    """
    global _adopting
    _adopt(True)
    _adopting += 1
    try:
        yield
    finally:
        _adopting -= 1
        _adopt(_adopting > 0)


def _adopt(on: bool) -> None:
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "this system lets no process adopt others")
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this process may not adopt others")


def name_process(name: str) -> None:
    """Give this process a name of at most 15 letters, where that can be done."""
    if sys.platform == "linux":
        with suppress(OSError):
            Path("/proc/self/comm").write_text(name)


def go_first_when_memory_is_short() -> None:
    """Ask the system to kill this process before its supervisor, or the job store beside it."""
    if sys.platform == "linux":
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500")


def limit_cpu(seconds: float | None) -> None:
    """End this process once it has used so many more seconds of CPU, and two; None sets no limit.

    Its supervisor ends it before. This is for one whose supervisor has stopped.
    """
    if seconds is not None and sys.platform != "win32":
        import resource

        end = math.ceil(time.process_time() + max(seconds, 0.0)) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (end, end + 1))


def limit_memory(limit: int | None) -> None:
    """Refuse this process more than `limit` bytes of address space; None sets no limit."""
    if limit is not None and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
