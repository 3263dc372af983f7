"""The processes of a service, as its commands start them."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from driftfold_workers.attempts.starter import THREADS
from tests.workers.workers import children_of

TOKEN = "DRIFTFOLD_CHAOS"
"""Environment variable that all processes of a campaign have, with their children."""
BEGUN = ("driftfold serves at", "runs in")
KILLED, TOLD = (-9,), (0, -15)
"""Codes after SIGKILL, and after SIGTERM, which may come before anybody listens for it."""


@dataclass(frozen=True)
class Role:
    """What a process does.

    Attributes
    ----------
    name, command
        Of its log; the words after ``driftfold``.
    redis
        The address of the job store, as it knows it.
    """

    name: str
    command: tuple[str, ...]
    redis: str


class Member:
    """A process that is replaced when it ends."""

    def __init__(self, role: Role, number: int, folder: Path, token: str) -> None:
        self.role = role
        self.log = folder / f"{role.name}-{number}.log"
        self.expected: set[int] = set()
        """Codes with which it may end, because it was told to."""
        words = [word.replace("NUMBER", str(number)) for word in role.command]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "driftfold_api.command", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={
                    **os.environ,
                    **dict.fromkeys(THREADS, "1"),
                    "PYTHONPATH": os.pathsep.join(sys.path),
                    "REDIS_URL": role.redis,
                    TOKEN: token,
                },
            )

    def signal(self, number: int, *codes: int) -> None:
        """Send a signal, after which it may end with these codes."""
        self.expected |= set(codes)
        if self.process.poll() is None:
            self.process.send_signal(number)

    @property
    def up(self) -> bool:
        """Whether it has begun its work, by its own word, and nobody has told it to end."""
        if self.ended is not None or self.expected:
            return False
        return any(word in self.log.read_text(errors="replace") for word in BEGUN)

    @property
    def ended(self) -> int | None:
        """The code with which it has ended."""
        return self.process.poll()

    def descendants(self) -> dict[str, list[int]]:
        """Its children and theirs by what they are called."""
        found: dict[str, list[int]] = {}
        new = [self.process.pid]
        while new:
            new = [child for pid in new for child in _children(pid)]
            for pid in new:
                with suppress(OSError):
                    found.setdefault(Path(f"/proc/{pid}/comm").read_text().strip(), []).append(pid)
        return found


def _children(pid: int) -> list[int]:
    try:
        return children_of(pid)
    except OSError:
        return []


def processes_with(token: str) -> list[str]:
    """All processes that have the token in their environment, with what they are."""
    mark = f"{TOKEN}={token}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    found.append(f"{folder.name}: {b' '.join(words[:6]).decode(errors='replace')}")
    return found
