"""The disk with the folder of runs: small enough to be full, where that can be had."""

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.workers.experiments import Behaviour

SIZE = "64m"
BLOCK = bytes(1 << 16)


class Disk(ABC):
    """A disk that is full from time to time."""

    @abstractmethod
    def fill(self) -> None:
        """Let nobody write any more."""

    @abstractmethod
    def free(self) -> None:
        """Let everybody write again."""


class SmallDisk(Disk):
    """A file system in memory that a file of ballast fills."""

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / ".ballast"

    def fill(self) -> None:
        """Write until there is no room."""
        with self._ballast.open("ab", buffering=0) as file:
            size = len(BLOCK)
            while size:
                try:
                    file.write(BLOCK[:size])
                except OSError:
                    size //= 2

    def free(self) -> None:
        """Throw the ballast away."""
        self._ballast.unlink(missing_ok=True)


class LimitedFiles(Disk):
    """No disk at all: processes of jobs may write no file of more than a few bytes meanwhile."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour

    def fill(self) -> None:
        """Limit files."""
        self._behaviour.change(room=100)

    def free(self) -> None:
        """Limit them no longer."""
        self._behaviour.change(room=None)


@contextmanager
def disk_at(folder: Path, behaviour: Behaviour) -> Iterator[Disk]:
    """A disk with `folder` on it: a real one if this user may mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        yield LimitedFiles(behaviour)
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
