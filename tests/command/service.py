"""`driftfold serve` as a person runs it: a process of its own in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.workers.workers import children_of

CODE = "from driftfold_api.command import main; main()"


@dataclass
class Served:
    """A service that runs."""

    process: subprocess.Popen[str]
    url: str
    errors: Path

    def everybody(self) -> set[int]:
        """All processes of the service."""
        found, new = set[int](), {self.process.pid}
        while new:
            found |= new
            new = {child for pid in new for child in _children(pid)} - found
        return found

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send the signal of Ctrl-C to the one process, and return how it ended."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[Served]:
    """A service at a free port, with its errors in a file."""
    errors = folder / "errors.txt"
    clean = {name: text for name, text in os.environ.items() if name != "REDIS_URL"}
    with errors.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, "serve", "--port", "0", "--json", *arguments],
            cwd=folder,
            env={**clean, "OMP_NUM_THREADS": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, errors.read_text()
        yield Served(process, json.loads(line)["url"], errors)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(90)
        process.stdout.close()


def _children(pid: int) -> list[int]:
    try:
        return children_of(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []
