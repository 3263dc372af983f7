"""The deployment files as values, and what they start as plain processes of this machine."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from driftfold_api.server import listen
from tests.modules import ROOT

HANGS = 90.0  # seconds; no measure of speed, it only ends what would never end


def compose() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    return told


def dockerfile() -> list[tuple[str, str]]:
    """Instructions of the Dockerfile with their arguments, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    return [(name, " ".join(rest.split())) for name, rest in pairs]


def free_port() -> int:
    with listen("127.0.0.1", 0) as free:
        port: int = free.getsockname()[1]
    return port


@dataclass
class Stack:
    """What docker-compose.yml starts, on this machine: the same words, other places.

    Attributes
    ----------
    folder
        Where the volumes are.
    server
        The program that takes the place of redis-server.
    chosen
        Variables that were set for docker compose.
    """

    folder: Path
    server: Path
    chosen: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.services = compose()["services"]
        self.redis, self.api = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.api}"
        for volume in ("runs", "redis"):
            (self.folder / volume).mkdir(exist_ok=True)

    def here(self, word: str) -> str:
        """A word of the file, with the containers' names and places as they are here."""
        word = re.sub(
            r"\$\{(\w+):-([^}]*)\}", lambda found: self.chosen.get(found[1], found[2]), word
        )
        word = word.replace("redis:6379", f"127.0.0.1:{self.redis}")
        word = word.replace("/data/runs", str(self.folder / "runs"))
        word = word.replace("redis-cli", f"redis-cli -p {self.redis}")
        return word.replace("0.0.0.0", "127.0.0.1").replace("8000", str(self.api))

    def environment(self, service: str) -> dict[str, str]:
        given: Mapping[str, str] = self.services[service].get("environment", {})
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # What this machine may say of its linear algebra decides the last bits of results.
        algebra = {k: v for k, v in os.environ.items() if k.startswith("OPENBLAS_")}
        told = {name: self.here(value) for name, value in given.items()}
        return {"PATH": path, **algebra, **told}

    def words(self, service: str) -> list[str]:
        words = [self.here(word) for word in self.services[service]["command"]]
        if service == "redis":
            places = ["--port", str(self.redis), "--bind", "127.0.0.1"]
            return [str(self.server), *words[1:], *places, "--dir", str(self.folder / "redis")]
        return words

    @contextmanager
    def running(self, service: str) -> Iterator["subprocess.Popen[bytes]"]:
        """A service as a process; it is stopped as `docker stop` does, and must stop in time."""
        with (self.folder / f"{service}.log").open("ab") as log:
            process = subprocess.Popen(
                self.words(service),
                cwd=self.folder,
                env=self.environment(service),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            grace = float(self.services[service]["stop_grace_period"].removesuffix("s"))
            assert process.wait(grace) == 0, self.log(service)
        finally:
            process.kill()
            process.wait()

    def healthy(self, service: str) -> bool:
        """Whether the service's own health check passes."""
        kind, *words = self.services[service]["healthcheck"]["test"]
        words = [self.here(word) for word in words]
        words = ["sh", "-c", *words] if kind == "CMD-SHELL" else words
        return self.run(words, service) == 0

    def run(self, words: Sequence[str], service: str) -> int:
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment(service), capture_output=True
        )
        return done.returncode

    def log(self, service: str) -> str:
        return (self.folder / f"{service}.log").read_text("utf-8", errors="replace")


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + HANGS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
