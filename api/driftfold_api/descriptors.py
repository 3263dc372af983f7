"""How many connections one process may have."""

import contextlib
import sys

WANTED = 65_536


def allow_many() -> None:
    """Let this process, and those that it starts, have as many files open as the system allows.

    Each client is one. Systems begin with a thousand, which a process may raise by itself.
    """
    if sys.platform == "win32":
        return
    import resource

    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if most == resource.RLIM_INFINITY else min(most, WANTED)
    if now != resource.RLIM_INFINITY and now < wanted:
        with contextlib.suppress(ValueError, OSError):  # a kernel may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
