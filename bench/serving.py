"""A service that is measured: its processes, their CPU clocks, and connections to its API."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

SERVE = "from driftfold_api.command import main; main()"


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process that runs; its children are not in it."""
    return time.clock_gettime((~pid << 3) | 2)  # Linux: the CPU clock of another process


def tree_cpu(*roots: int) -> float:
    """Return the CPU seconds of processes, all below them, and those they have waited for."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    waiting = list(roots)
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            for task in (folder / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(map(int, fields[11:15])) / tick
    return total


def memory_of(pid: int) -> float:
    """Return the MB of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def serving(folder: Path, redis: str, workers: int) -> Iterator[tuple[int, int]]:
    """Serve at a free port; give it, and the number of the process that has the API."""
    command = [sys.executable, "-c", SERVE, "serve", "--port", "0", "--json"]
    command += ["--workers", str(workers), "--runs", str(folder / "runs")]
    environment = {**os.environ, "REDIS_URL": redis}
    with (folder / "log").open("ab") as log:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=log)
    assert process.stdout is not None
    try:
        facts = json.loads(process.stdout.readline())
        yield int(facts["url"].rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.wait(90)
        process.stdout.close()


class Connection:
    """A connection to the API that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, method: str, path: str, body: bytes = b"", key: str = "") -> bytes:
        """Send a request; return the head of the answer."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Idempotency-Key: {key}\r\n" if key else ""
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return (await self.reader.readuntil(b"\r\n\r\n")).lower()

    async def post(self, body: bytes, key: str = "") -> str:
        """Submit a job; return its id."""
        head = await self.ask("POST", "/v1/jobs", body, key)
        length = int(head.partition(b"content-length:")[2].split()[0])
        answer: dict[str, Any] = json.loads(await self.reader.readexactly(length))
        return str(answer["id"])

    async def moments(self, *texts: bytes) -> dict[bytes, float]:
        """Read until the last of some texts has come; return when each came first."""
        came: dict[bytes, float] = {}
        seen = b""
        while texts[-1] not in came:
            got = await self.reader.read(2**16)
            assert got, "the server ended the stream"
            now = time.perf_counter()
            seen += got
            for text in texts:
                if text in seen:
                    came.setdefault(text, now)
            seen = seen[-100:]
        return came
