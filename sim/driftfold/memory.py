"""How much memory this machine has."""

import os
from functools import cache
from pathlib import Path

_UNKNOWN = 10**12  # where the system does not say


@cache
def machine_bytes(group: str = "/sys/fs/cgroup/memory.max") -> int:
    """Bytes that processes may have: the machine's memory, or its container's where that is less.

    It does not depend on what is in use just now: a specification is right or wrong whatever else
    runs. `group` is the file in which Linux tells a container its limit.

    >>> 10**7 < machine_bytes() < 10**16
    True
    """
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = _UNKNOWN
    try:
        limit = Path(group).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        limit = ""
    sizes = [physical if physical > 0 else _UNKNOWN, *([int(limit)] if limit.isdecimal() else [])]
    return min(sizes)


def gigabytes(size: int) -> str:
    """Words for a number of bytes.

    >>> gigabytes(11_500_000_000), gigabytes(2 * 10**12), gigabytes(12_345_678)
    ('11.5 GB', '2,000 GB', '0.0123 GB')
    """
    if size >= 100 * 10**9:
        return f"{size // 10**9:,} GB"
    return f"{size / 10**9:.3g} GB"
