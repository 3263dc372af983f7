"""Whether the system has killed processes because memory ran out."""

from pathlib import Path

CGROUP = "/sys/fs/cgroup"
COUNT = "oom_kill"


def memory_kills() -> int | None:
    """Return how many processes were killed for want of memory, as far as can be told here.

    Of this process's control group, or where that is not told, of the whole machine; None on
    systems that tell neither.
    """
    try:
        group = Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2]
    except OSError:
        group = "/"
    for file in (Path(f"{CGROUP}{group}/memory.events"), Path("/proc/vmstat")):
        try:
            for line in file.read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == COUNT:
                    return int(count)
        except (OSError, ValueError):
            continue
    return None
