"""The process of an attempt, without a supervisor around it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftfold_workers.frames import FrameDecoder
from driftfold_workers.messages import Message, Recorded, Saved, from_frame
from driftfold_workers.order import Order
from tests.workers.experiments import PLUGIN, told


class Child:
    """A child of this process, and what it has said so far."""

    def __init__(self, process: "subprocess.Popen[bytes]", pipe: int) -> None:
        self.process = process
        self.pipe = pipe
        self.heard: list[Message] = []
        self._decoder = FrameDecoder()

    def order(self, job: str, spec: dict[str, Any], runs: Path, **more: Any) -> None:
        facts: dict[str, Any] = {"epoch": 1, "checkpoint": None, "plugins": (PLUGIN,), **more}
        self.write(Order(job=job, spec=spec, runs=str(runs), **facts).to_line())

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def hear(self) -> bool:
        """Hear more; False at the end."""
        data = os.read(self.pipe, 1 << 16)
        for frame in self._decoder.feed(data):
            message = from_frame(frame)
            self.heard.append(message)
            if isinstance(message, Saved):
                self.write(message.name.encode() + b"\n")
        return bool(data)

    def hear_records(self, count: int) -> None:
        while len(self.lines) < count:
            assert self.hear()

    def hear_all(self) -> Message:
        """Hear everything; return the last word."""
        while self.hear():
            pass
        assert self.process.wait(10) == 0
        return self.heard[-1]

    @property
    def lines(self) -> list[bytes]:
        return [message.line for message in self.heard if isinstance(message, Recorded)]

    @property
    def records(self) -> list[dict[str, Any]]:
        return told(self.lines)

    @property
    def saved(self) -> list[Saved]:
        return [message for message in self.heard if isinstance(message, Saved)]


@contextmanager
def child(folder: Path | None = None) -> Iterator[Child]:
    """A child that waits for its order, in a working directory of its own."""
    ours, its = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "driftfold_workers.child", str(its), str(os.getpid())],
        stdin=subprocess.PIPE,
        pass_fds=(its,),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    os.close(its)
    try:
        yield Child(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        if process.stdin is not None:
            process.stdin.close()
