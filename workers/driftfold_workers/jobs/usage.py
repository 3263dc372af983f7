"""What jobs have used up, and which limit that is beyond."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from driftfold_workers.jobs.terms import Limits

MIB = 2**20


@dataclass(frozen=True)
class Usage:
    """Seconds of CPU and of running, over all attempts at a job."""

    cpu: float = 0.0
    wall: float = 0.0


UNUSED = Usage()


class Meter:
    """Measures what an attempt uses up, on top of what the attempts before have used.

    The seconds that a process computed before its run began, for its imports, are not the job's.
    """

    def __init__(self, before: Usage, pid: int, clock: Callable[[], float] = monotonic) -> None:
        self._before = before
        self._pid = pid
        self._clock = clock
        self._started = clock()
        self._idle: float | None = None
        self._cpu = 0.0

    def begin(self, cpu: float) -> None:
        """Take note that the run began after so many seconds of CPU."""
        self._idle = cpu

    def read(self) -> Usage:
        """Return what the job has used so far; of a process that has ended, what it last had."""
        if self._idle is not None and (cpu := cpu_of(self._pid)) is not None:
            self._cpu = max(self._cpu, cpu - self._idle)
        wall = self._clock() - self._started
        return Usage(self._before.cpu + self._cpu, self._before.wall + wall)


def cpu_of(pid: int) -> float | None:
    """Return the seconds of CPU that a process has used, or None where nobody can tell.

    >>> cpu_of(0) is None
    True
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def exceeded(limits: Limits, used: Usage) -> str:
    """Return which limit is exceeded, by how much, and what to change; "" for none.

    >>> exceeded(Limits(cpu=60.0), Usage(cpu=60.2, wall=80.0))
    'over its limit of 60 s of CPU: it has used 60.2 s; submit it with more as limits.cpu_seconds'
    >>> exceeded(Limits(cpu=60.0), Usage(cpu=59.0, wall=80.0))
    ''
    """
    for name, limit, much, what in (
        ("cpu_seconds", limits.cpu, used.cpu, "of CPU"),
        ("wall_seconds", limits.wall, used.wall, "of running"),
    ):
        if limit is not None and much > limit:
            return (
                f"over its limit of {limit:g} s {what}: it has used {much:.4g} s; submit it with "
                f"more as limits.{name}"
            )
    return ""


def memory_of(worker: int | None, job: int | None) -> tuple[int | None, str]:
    """Return the limit that holds of two, in bytes, and how to raise it.

    >>> memory_of(4096 * MIB, 512 * MIB)
    (536870912, 'it may use 512 MiB of address space; submit it with more as limits.memory_mib')
    >>> memory_of(None, None)
    (None, '')
    """
    if job is not None and (worker is None or job <= worker):
        more = "submit it with more as limits.memory_mib"
        return job, f"it may use {job // MIB} MiB of address space; {more}"
    if worker is not None:
        return worker, f"its worker gives no more than {worker // MIB} MiB (--memory)"
    return None, ""
