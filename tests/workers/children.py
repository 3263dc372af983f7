"""The process of an attempt, without a supervisor around it."""

import asyncio
import atexit
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeAlias

from driftfold_workers.artefacts.runs import OUTPUT
from driftfold_workers.attempts.frames import FrameDecoder
from driftfold_workers.attempts.guardian import adopting
from driftfold_workers.attempts.messages import Message, Recorded, Saved, from_frame
from driftfold_workers.attempts.order import Order
from driftfold_workers.attempts.starter import command, environment
from driftfold_workers.attempts.template_link import TemplateLink
from tests.workers.experiments import PLUGIN, told


class Child:
    """A child of this process, and what it has said so far."""

    def __init__(self, process: "Spawned | Forked", orders: IO[bytes], pipe: int) -> None:
        self.process = process
        self.orders = orders
        self.pipe = pipe
        self.heard: list[Message] = []
        self._decoder = FrameDecoder()

    def order(self, job: str, spec: dict[str, Any], runs: Path, **more: Any) -> None:
        facts: dict[str, Any] = {"epoch": 1, "checkpoint": None, "plugins": (PLUGIN,), **more}
        output = str(runs / job / OUTPUT)
        self.write(Order(job=job, spec=spec, runs=str(runs), output=output, **facts).to_line())

    def write(self, line: bytes) -> None:
        self.orders.write(line)

    def hear(self) -> bool:
        """Hear more; False at the end."""
        data = os.read(self.pipe, 1 << 16)
        for frame in self._decoder.feed(data):
            message = from_frame(frame)
            self.heard.append(message)
            if isinstance(message, Saved):
                with suppress(BrokenPipeError):  # one that has ended needs no confirmation
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


Spawned: TypeAlias = "subprocess.Popen[bytes]"


class Forked:
    """What was forked from a template; has what tests need of `Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, within: float = 30.0) -> int:
        end = time.monotonic() + within
        while self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
            else:
                assert time.monotonic() < end
                time.sleep(0.002)
        return self.returncode


@cache
def template() -> TemplateLink:
    """The template of all these children."""
    link = TemplateLink(torch=False)
    atexit.register(link.end)
    return link


def forked(orders: int, pipe: int) -> Forked:
    with adopting(), ThreadPoolExecutor(1) as apart:  # the test may have a loop that runs
        return Forked(apart.submit(asyncio.run, template().fork(orders, pipe)).result())


def spawned(orders: int, pipe: int, folder: Path | None) -> Spawned:
    return subprocess.Popen(
        command("child", pipe), stdin=orders, pass_fds=(pipe,), cwd=folder, env=environment()
    )


@contextmanager
def child(folder: Path | None = None) -> Iterator[Child]:
    """A child that waits for its order: forked, or in a folder of its own a new interpreter."""
    told, tell = os.pipe()
    hear, say = os.pipe()
    if folder is None and sys.platform == "linux":
        process: Spawned | Forked = forked(hear, tell)
    else:
        process = spawned(hear, tell, folder)
    os.close(hear)
    os.close(tell)
    try:
        with os.fdopen(say, "wb", 0) as orders:
            yield Child(process, orders, told)
    finally:
        process.kill()
        process.wait()
        os.close(told)
